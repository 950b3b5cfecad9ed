import type {
  CoreV1Event,
  V1CustomResourceDefinition,
  V1Lease,
  V1Namespace,
  V1Node,
  V1ObjectMeta,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodDisruptionBudget,
  V1Secret,
  V1Service,
} from '@kubernetes/client-node';

/**
 * A type of the generated models as it travels: dates are strings. It is read-only, because what the cache holds belongs
 * to everybody; and since nothing is converted, fields that the models do not know yet survive a read and a write.
 */
export type Json<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Json<Item>[]
    : T extends object
      ? { readonly [Field in keyof T]: Json<T[Field]> }
      : T;

/** What every object says about itself. Only the name is there before the server has seen the object. */
export type ObjectMeta = Omit<Json<V1ObjectMeta>, 'name'> & { readonly name: string };

export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** An object as the server gives it back: it exists, so it has an identity and a version. */
export type Stored<T extends KubeObject> = T & {
  readonly metadata: { readonly uid: string; readonly resourceVersion: string; readonly creationTimestamp: string };
};

/** A kind of the generated models, with those fields required that every object has. */
type Known<T> = Omit<Json<T>, keyof KubeObject> & KubeObject;

export type Pod = Known<V1Pod>;
export type Service = Known<V1Service>;
export type PersistentVolumeClaim = Known<V1PersistentVolumeClaim>;
export type PodDisruptionBudget = Known<V1PodDisruptionBudget>;
export type Lease = Known<V1Lease>;
export type CoreEvent = Known<CoreV1Event>;
export type Node = Known<V1Node>;
export type Namespace = Known<V1Namespace>;
export type Secret = Known<V1Secret>;
export type CustomResourceDefinition = Known<V1CustomResourceDefinition>;

/** Where an object is. The metadata of an object is one of these. */
export interface At {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** The name of an object among its kind: `namespace/name`, or only the name where there are no namespaces. */
export const keyOf = ({ namespace, name }: At): string => (namespace ? `${namespace}/${name}` : name);

/** The reverse of `keyOf`. */
export function atOf(key: string): At {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/**
 * Which of two versions of one kind of object is newer: negative, zero or positive. They are decimal numbers without
 * leading zeros of any length, so the longer one is the greater one.
 */
export function compareVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
