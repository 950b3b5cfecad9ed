import { ApiFailure } from '../../../src/kube/errors.ts';
import type { KubeObject, ObjectMeta } from '../../../src/kube/object.ts';

/** An object as the simulated API server stores it. It is never changed: a write stores another object. */
export type SimulatedObject = KubeObject & {
  readonly metadata: ObjectMeta & {
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
  };
  readonly spec?: unknown;
  readonly status?: unknown;
};

/** A resource as requests name it. */
export interface KindName {
  readonly group: string;
  readonly plural: string;
}

export interface ObjectSelection {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
}

/** The key of a kind in the store. */
export const kindKey = ({ group, plural }: KindName): string => (group === '' ? plural : `${plural}.${group}`);

export function isSelected({ metadata }: SimulatedObject, { namespace, labelSelector = '' }: ObjectSelection): boolean {
  if (namespace !== undefined && metadata.namespace !== namespace) return false;
  if (labelSelector === '') return true;
  return labelSelector.split(',').every((term) => {
    const [label = '', value] = term.split('=');
    const has = metadata.labels?.[label];
    return value === undefined ? has !== undefined : has === value;
  });
}

export const absent = (what: string): ApiFailure =>
  new ApiFailure('not-found', `${what} not found`, { reason: 'NotFound', serverMessage: `${what} not found` });

export const conflicting = (message: string): ApiFailure => new ApiFailure('conflict', message, { reason: 'Conflict' });

export const alreadyExists = (what: string): ApiFailure =>
  new ApiFailure('conflict', `${what} already exists`, { reason: 'AlreadyExists' });

export const expired = (): ApiFailure => new ApiFailure('conflict', 'too old resource version', { reason: 'Expired' });

/** Throws if the resourceVersion or UID in a write is not that of the stored object. */
export function assertSame(stored: SimulatedObject, sent: Partial<ObjectMeta> | undefined): void {
  const { uid, resourceVersion } = sent ?? {};
  const { kind, metadata } = stored;
  if (uid !== undefined && uid !== metadata.uid)
    throw conflicting(`${kind} ${metadata.name}: the UID in the precondition is ${uid}`);
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
    throw conflicting(`${kind} ${metadata.name}: the object has been modified`);
}
