import type { KubeObject } from '../object.ts';
import type { FieldError } from '../refusal.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { wrongInQualified } from './names.ts';

/** What is about to go cannot be held back by somebody new. */
export function lateFinalizers({ metadata }: KubeObject, { metadata: old }: KubeObject): readonly FieldError[] {
  if (old.deletionTimestamp === undefined) return [];
  const known = new Set(old.finalizers);
  const added = (metadata.finalizers ?? []).filter((finalizer) => !known.has(finalizer)).toSorted();
  if (added.length === 0) return [];
  const shown = `[]string{${added.map((finalizer) => JSON.stringify(finalizer)).join(', ')}}`;
  const says = `no new finalizers can be added if the object is being deleted, found new finalizers ${shown}`;
  return [{ type: 'Forbidden', path: 'metadata.finalizers', says }];
}

const path = 'metadata.finalizers';
const standard = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

/** Who holds an object back says so by a name with a domain, so that it is known whom to ask; of defined kinds that is only a wish. */
export function finalizerErrors({ metadata }: KubeObject, { group, custom }: ResourceType): readonly FieldError[] {
  const finalizers = metadata.finalizers ?? [];
  const isFree = custom !== undefined || group === 'apiextensions.k8s.io';
  return [
    ...finalizers.flatMap((name) => wrongInQualified(name).map((says) => wrong(path, name, says))),
    ...(finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')
      ? [wrong(path, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set')]
      : []),
    ...finalizers.flatMap((name, index) =>
      isFree || name.includes('/') || standard.has(name) ? [] : [wrong(`${path}[${index}]`, name, unqualified)],
    ),
  ];
}

const unqualified = 'name is neither a standard finalizer name nor is it fully qualified';

const wrong = (where: string, value: unknown, says: string): FieldError => ({
  type: 'Invalid',
  path: where,
  value,
  says,
});
