import type { Fields } from './json.ts';

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Who set which fields, by which kind of request. */
export interface ManagedFields {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  time: string;
  fieldsType: 'FieldsV1';
  fieldsV1: Fields;
  subresource?: string;
}

export interface Meta {
  name: string;
  generateName?: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: readonly string[];
  ownerReferences?: readonly OwnerReference[];
  managedFields?: readonly ManagedFields[];
}

export interface KubeObject extends Fields {
  apiVersion: string;
  kind: string;
  metadata: Meta;
}

/** Times are kept to the second, as Kubernetes keeps them. */
export const timeOf = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;
export const now = (): string => timeOf(new Date());
