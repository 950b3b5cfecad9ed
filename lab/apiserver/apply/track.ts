import { type Fields, same } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { ResourceType } from '../types/resource-type.ts';
import type { WriteOptions } from '../verbs/call.ts';
import { isSame, managerOf, managersIn, toManagedFields, withManager } from './managers.ts';
import { leavesOf } from './paths.ts';

export interface Tracked {
  readonly type: ResourceType;
  readonly writing: WriteOptions;
  readonly old?: KubeObject;
}

/** Adds new and changed fields to the manager of the write, in the object's managedFields. */
export function trackUpdate(object: KubeObject, { type, writing, old }: Tracked): void {
  const leaves = leavesOf(object, type.schema);
  const before = old === undefined ? new Map<string, unknown>() : leavesOf(old, type.schema);
  const isChanged = (path: string): boolean => !before.has(path) || !same(leaves.get(path), before.get(path));
  const changed = [...leaves.keys()].filter(isChanged);
  const own = managerOf(type, writing);
  const others = managersIn(old?.metadata.managedFields).map(({ entry, paths }) => ({
    entry,
    paths: new Set(
      [...paths].filter((path) => leaves.has(path) && (isSame(entry, own) || !isOverwritten(path, before, isChanged))),
    ),
  }));
  const mine = others.find(({ entry }) => isSame(entry, own))?.paths ?? new Set<string>();
  const managers = changed.length === 0 ? others : withManager(others, own, new Set([...mine, ...changed]));
  Object.assign(object.metadata, { managedFields: toManagedFields(managers) });
}

/** After creation by apply, the manager owns only the applied fields, not those that the server added. */
export function trackApplied(object: KubeObject, applied: Fields, { type, writing }: Tracked): void {
  const paths = new Set(leavesOf(applied, type.schema).keys());
  Object.assign(object.metadata, { managedFields: toManagedFields([{ entry: managerOf(type, writing), paths }]) });
}

/** True if the write changes the value of a field that existed before. */
const isOverwritten = (
  path: string,
  before: ReadonlyMap<string, unknown>,
  isChanged: (path: string) => boolean,
): boolean => before.has(path) && isChanged(path);
