import type { z } from 'zod';
import { type Rule, validationOf, validationsKey } from './rule.ts';
import { type StructuralSchema, structuralSchemaOf } from './structural-schema.ts';

/** A kind of object, as its CustomResourceDefinition is made from it. */
export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly shortNames: readonly string[];
  readonly description: string;
  readonly nameRules: readonly Rule<string>[];
  readonly spec: z.ZodType;
  readonly status: z.ZodType;
  readonly columns: readonly Column[];
  readonly scale?: ScalePaths;
}

/** A column of `kubectl get`. One of priority 1 is for `-o wide`. */
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

/** The schema of an object as the API server enforces it. */
export const schemaOf = ({ description, spec, status, nameRules }: Kind): StructuralSchema => ({
  type: 'object',
  description,
  required: ['spec'],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec: structuralSchemaOf(spec.describe('What you want.')),
    status: structuralSchemaOf(status.describe('What is; written by the operator.')),
  },
  // optionalOldSelf: these rules also look at whether there was an object before.
  [validationsKey]: nameRules.map((rule) => Object.assign(validationOf(rule), { optionalOldSelf: true })),
});

/** The CustomResourceDefinition, as it is shipped. */
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
      // In definitions that the originals made before Kubernetes 1.22 it is true, and stays so where ours are applied over them and do not
      // say it: then the API server refuses ours for its defaults.
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
