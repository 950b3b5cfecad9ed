import { validationOf, validationsKey } from '../rule.ts';
import { type StructuralSchema, structuralSchemaOf } from '../structural-schema.ts';
import { group, version } from './intent.ts';
import { nameRules } from './names.ts';
import { etcdClusterSpec } from './spec.ts';
import { etcdClusterStatus } from './status.ts';

/** The schema of an EtcdCluster as the API server enforces it. */
export const etcdClusterSchema = (): StructuralSchema => ({
  type: 'object',
  description: 'An etcd cluster: you say how many members of which version, the operator makes it so and keeps it so.',
  required: ['spec'],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec: structuralSchemaOf(etcdClusterSpec.describe('What you want.')),
    status: structuralSchemaOf(etcdClusterStatus.describe('What is; written by the operator.')),
  },
  // optionalOldSelf: these rules also look at whether there was an object before.
  [validationsKey]: nameRules.map((rule) => Object.assign(validationOf(rule), { optionalOldSelf: true })),
});

/** Columns of `kubectl get etcd`, in the order of the question "is it well?". Those of priority 1 are for `-o wide`. */
const columns = [
  { name: 'Size', type: 'integer', jsonPath: '.spec.size', description: 'members wanted' },
  { name: 'Ready', type: 'integer', jsonPath: '.status.readyMembers', description: 'members that serve' },
  { name: 'Version', type: 'string', jsonPath: '.status.currentVersion', description: 'version that all members run' },
  { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
  {
    name: 'Available',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Available")].status',
    description: 'whether clients can read and write',
  },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Wanted', type: 'string', jsonPath: '.spec.version', description: 'version wanted', priority: 1 },
  { name: 'Paused', type: 'boolean', jsonPath: '.status.controlPaused', priority: 1 },
  { name: 'Service', type: 'string', jsonPath: '.status.serviceName', description: 'service for clients', priority: 1 },
  { name: 'Reason', type: 'string', jsonPath: '.status.reason', description: 'why it failed', priority: 1 },
] as const;

/** The CustomResourceDefinition of EtcdCluster, as it is shipped and as `--create-crd` creates it. */
export const etcdClusterCrd = () =>
  ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `etcdclusters.${group}` },
    spec: {
      group,
      names: {
        kind: 'EtcdCluster',
        listKind: 'EtcdClusterList',
        plural: 'etcdclusters',
        singular: 'etcdcluster',
        shortNames: ['etcdclus', 'etcd'],
        categories: ['etcd-operator'],
      },
      scope: 'Namespaced',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: etcdClusterSchema() },
          subresources: {
            status: {},
            scale: {
              specReplicasPath: '.spec.size',
              statusReplicasPath: '.status.size',
              labelSelectorPath: '.status.selector',
            },
          },
          additionalPrinterColumns: columns,
        },
      ],
    },
  }) as const;
