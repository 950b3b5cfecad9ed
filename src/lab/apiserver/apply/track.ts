import { type Fields, same } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { ResourceType } from '../types/resource-type.ts';
import type { Writing } from '../verbs/call.ts';
import { isSame, managerOf, managersIn, withManager, writtenDown } from './managers.ts';
import { leavesOf } from './paths.ts';

export interface Tracked {
  readonly type: ResourceType;
  readonly writing: Writing;
  readonly old?: KubeObject;
}

/** Writes down who set the fields that are new or different. The object is changed. */
export function trackUpdate(object: KubeObject, { type, writing, old }: Tracked): void {
  const leaves = leavesOf(object, type.schema);
  const before = old === undefined ? new Map<string, unknown>() : leavesOf(old, type.schema);
  const isChanged = (path: string): boolean => !before.has(path) || !same(leaves.get(path), before.get(path));
  const changed = [...leaves.keys()].filter(isChanged);
  const own = managerOf(type, writing);
  const others = managersIn(old?.metadata.managedFields).map(({ entry, paths }) => ({
    entry,
    paths: new Set(
      [...paths].filter((path) => leaves.has(path) && (isSame(entry, own) || !isTaken(path, before, isChanged))),
    ),
  }));
  const mine = others.find(({ entry }) => isSame(entry, own))?.paths ?? new Set<string>();
  const managers = changed.length === 0 ? others : withManager(others, own, new Set([...mine, ...changed]));
  Object.assign(object.metadata, { managedFields: writtenDown(managers) });
}

/** Of what was made by being applied, only what was said is somebody's: not what the server has added. */
export function trackApplied(object: KubeObject, applied: Fields, { type, writing }: Tracked): void {
  const paths = new Set(leavesOf(applied, type.schema).keys());
  Object.assign(object.metadata, { managedFields: writtenDown([{ entry: managerOf(type, writing), paths }]) });
}

/** A field that somebody else has given another value. */
const isTaken = (path: string, before: ReadonlyMap<string, unknown>, isChanged: (path: string) => boolean): boolean =>
  before.has(path) && isChanged(path);
