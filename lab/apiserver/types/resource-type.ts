import type { Schema } from '../schema/schema.ts';

export interface Subresource {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly priority: number;
  /** The JSON path of a custom resource's cell. */
  readonly jsonPath?: string;
}

/** The paths of a custom resource's scale subresource. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** What only custom resources have. */
export interface Custom {
  readonly columns: readonly Column[];
  readonly scale?: ScalePaths;
  readonly selectableFields: readonly string[];
  /** The version in which objects are stored. */
  readonly storageVersion: string;
}

/** One version of one kind. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly Subresource[];
  /** The collection of its objects in the store. */
  readonly collection: string;
  readonly schema: Schema;
  readonly custom?: Custom;
}

export const apiVersionOf = ({ group, version }: Pick<ResourceType, 'group' | 'version'>): string =>
  group === '' ? version : `${group}/${version}`;

export const hasSubresource = (type: ResourceType, name: string): boolean =>
  type.subresources.some((subresource) => subresource.name === name);
