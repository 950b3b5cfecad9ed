import type { KubeObject } from '../object.ts';
import type { FieldError } from '../status-error.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { qualifiedNameErrors } from './names.ts';

/** No finalizer can be added to an object under deletion. */
export function addedFinalizerErrors({ metadata }: KubeObject, { metadata: old }: KubeObject): readonly FieldError[] {
  if (old.deletionTimestamp === undefined) return [];
  const known = new Set(old.finalizers);
  const added = (metadata.finalizers ?? []).filter((finalizer) => !known.has(finalizer)).toSorted();
  if (added.length === 0) return [];
  const shown = `[]string{${added.map((finalizer) => JSON.stringify(finalizer)).join(', ')}}`;
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${shown}`;
  return [{ type: 'Forbidden', path: 'metadata.finalizers', detail }];
}

const path = 'metadata.finalizers';
const standard = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

/** A finalizer needs a domain prefix, so that its controller can be found. Custom resources may omit it. */
export function finalizerErrors({ metadata }: KubeObject, { group, custom }: ResourceType): readonly FieldError[] {
  const finalizers = metadata.finalizers ?? [];
  const isPrefixOptional = custom !== undefined || group === 'apiextensions.k8s.io';
  return [
    ...finalizers.flatMap((name) => qualifiedNameErrors(name).map((detail) => invalidValue(path, name, detail))),
    ...(finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')
      ? [invalidValue(path, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set')]
      : []),
    ...finalizers.flatMap((name, index) =>
      isPrefixOptional || name.includes('/') || standard.has(name)
        ? []
        : [invalidValue(`${path}[${index}]`, name, unqualified)],
    ),
  ];
}

const unqualified = 'name is neither a standard finalizer name nor is it fully qualified';

const invalidValue = (where: string, value: unknown, detail: string): FieldError => ({
  type: 'Invalid',
  path: where,
  value,
  detail,
});
