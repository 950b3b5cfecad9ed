import type { z } from 'zod';
import { type ValidationRule, validationOf, validationsKey } from './rule.ts';
import { type StructuralSchema, structuralSchemaOf } from './structural-schema.ts';

/** The source of a CustomResourceDefinition. */
export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly shortNames: readonly string[];
  readonly description: string;
  readonly nameRules: readonly ValidationRule<string>[];
  readonly spec: z.ZodType;
  readonly status: z.ZodType;
  readonly columns: readonly Column[];
  readonly scale?: ScalePaths;
}

/** A column of `kubectl get`. Columns of priority 1 are for `-o wide`. */
export interface Column {
  readonly name: string;
  readonly type: 'integer' | 'string' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  readonly priority?: number;
}

interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath: string;
}

/** The OpenAPI schema that the API server enforces. */
export const schemaOf = ({ description, spec, status, nameRules }: Kind): StructuralSchema => ({
  type: 'object',
  description,
  required: ['spec'],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec: structuralSchemaOf(spec.describe('spec is the desired state.')),
    status: structuralSchemaOf(status.describe('status is the observed state, written by the operator.')),
  },
  // optionalOldSelf: these rules apply on create too, where oldSelf is empty.
  [validationsKey]: nameRules.map((rule) => Object.assign(validationOf(rule), { optionalOldSelf: true })),
});

/** The CustomResourceDefinition as shipped. */
export function definitionOf(of: Kind) {
  const { group, version, kind, shortNames, scale } = of;
  const singular = kind.toLowerCase();
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.${group}` },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural: `${singular}s`,
        singular,
        shortNames,
        categories: ['etcd-operator'],
      },
      scope: 'Namespaced',
      // Definitions of the originals from before Kubernetes 1.22 have true here. Without this line, applying ours over them keeps
      // true, and the API server refuses the defaults in our schema.
      preserveUnknownFields: false,
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schemaOf(of) },
          subresources: { status: {}, ...(scale === undefined ? {} : { scale }) },
          additionalPrinterColumns: of.columns,
        },
      ],
    },
  } as const;
}
