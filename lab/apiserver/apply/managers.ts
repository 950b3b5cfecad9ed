import type { ManagedFields } from '../object.ts';
import { now } from '../object.ts';
import { apiVersionOf, type ResourceType } from '../types/resource-type.ts';
import type { WriteOptions } from '../verbs/call.ts';
import { pathsIn, treeOf } from './paths.ts';

/** A field manager and the fields it owns. */
export interface Manager {
  readonly entry: Omit<ManagedFields, 'fieldsV1'>;
  readonly paths: ReadonlySet<string>;
}

export const managersIn = (managed: readonly ManagedFields[] = []): readonly Manager[] =>
  managed.map(({ fieldsV1, ...entry }) => ({ entry, paths: new Set(pathsIn(fieldsV1)) }));

export const managerOf = (type: ResourceType, { manager, operation, subresource }: WriteOptions): Manager['entry'] => ({
  manager,
  operation,
  apiVersion: apiVersionOf(type),
  time: now(),
  fieldsType: 'FieldsV1',
  ...(subresource !== undefined && { subresource }),
});

export const isSame = (a: Manager['entry'], b: Manager['entry']): boolean =>
  a.manager === b.manager &&
  a.operation === b.operation &&
  a.subresource === b.subresource &&
  a.apiVersion === b.apiVersion;

/** Formats managers as managedFields; managers without fields are omitted. */
export const toManagedFields = (managers: readonly Manager[]): readonly ManagedFields[] =>
  managers
    .filter(({ paths }) => paths.size > 0)
    .map(({ entry: { subresource, ...entry }, paths }) => ({
      ...entry,
      fieldsV1: treeOf(paths),
      ...(subresource !== undefined && { subresource }),
    }));

/** Replaces the paths of one manager; its time changes only if the paths do. */
export function withManager(
  managers: readonly Manager[],
  entry: Manager['entry'],
  paths: ReadonlySet<string>,
): readonly Manager[] {
  const known = managers.find((other) => isSame(other.entry, entry));
  if (known === undefined) return [...managers, { entry, paths }];
  const isUnchanged = known.paths.size === paths.size && [...paths].every((path) => known.paths.has(path));
  return managers.map((other) => (other === known ? { entry: isUnchanged ? known.entry : entry, paths } : other));
}
