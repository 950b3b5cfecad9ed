import type { Fields } from './json.ts';

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** The fields that one manager has set, as in metadata.managedFields. */
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

/** Formats a time as Kubernetes does: whole seconds. */
export const timeOf = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;
export const now = (): string => timeOf(new Date());
