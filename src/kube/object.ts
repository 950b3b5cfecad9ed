import type {
  CoreV1Event,
  V1CustomResourceDefinition,
  V1EndpointSlice,
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
 * A type of the generated models in its JSON form: dates are strings. It is read-only, because cached objects are
 * shared. Nothing is converted, so unknown fields survive a read and a write.
 */
export type Json<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Json<Item>[]
    : T extends object
      ? { readonly [Field in keyof T]: Json<T[Field]> }
      : T;

/** Object metadata. Before the create, only the name is required. */
export type ObjectMeta = Omit<Json<V1ObjectMeta>, 'name'> & { readonly name: string };

export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** An object as the server returns it, with UID and resourceVersion. */
export type Stored<T extends KubeObject> = T & {
  readonly metadata: { readonly uid: string; readonly resourceVersion: string; readonly creationTimestamp: string };
};

/** A kind of the generated models with apiVersion, kind and metadata required. */
type Known<T> = Omit<Json<T>, keyof KubeObject> & KubeObject;

export type Pod = Known<V1Pod>;
export type Service = Known<V1Service>;
export type PersistentVolumeClaim = Known<V1PersistentVolumeClaim>;
export type EndpointSlice = Known<V1EndpointSlice>;
export type PodDisruptionBudget = Known<V1PodDisruptionBudget>;
export type Lease = Known<V1Lease>;
export type CoreEvent = Known<CoreV1Event>;
export type Node = Known<V1Node>;
export type Namespace = Known<V1Namespace>;
export type Secret = Known<V1Secret>;
export type CustomResourceDefinition = Known<V1CustomResourceDefinition>;

/** Namespace and name of an object. The metadata of an object satisfies this type. */
export interface NamespacedName {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** The key of an object: `namespace/name`, or only the name of a cluster-scoped object. */
export const keyOf = ({ namespace, name }: NamespacedName): string => (namespace ? `${namespace}/${name}` : name);

/** The reverse of `keyOf`. */
export function parseKey(key: string): NamespacedName {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/**
 * Compares two resourceVersions of one kind. Negative if `a` is older. They are decimal numbers of any length without
 * leading zeros, so the longer number is greater.
 */
export function compareResourceVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
