import { type Column, definitionOf, type Kind, schemaOf } from '../definition.ts';
import type { StructuralSchema } from '../structural-schema.ts';
import { group, version } from './intent.ts';
import { nameRules } from './names.ts';
import { etcdClusterSpec } from './spec.ts';
import { etcdClusterStatus } from './status.ts';

/** Columns of `kubectl get etcd`, in the order of the question "is it well?". Those of priority 1 are for `-o wide`. */
const columns: readonly Column[] = [
  { name: 'Size', type: 'integer', jsonPath: '.spec.size', description: 'members wanted' },
  { name: 'Ready', type: 'integer', jsonPath: '.status.readyMembers', description: 'members that serve' },
  { name: 'Version', type: 'string', jsonPath: '.status.currentVersion', description: 'version that all members run' },
  { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
  {
    name: 'Available',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Available")].status',
    description: 'whether clients are served',
  },
  {
    name: 'Doing',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Progressing")].reason',
    description: 'what the operator does or waits for',
  },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Wanted', type: 'string', jsonPath: '.spec.version', description: 'version wanted', priority: 1 },
  { name: 'Paused', type: 'boolean', jsonPath: '.status.controlPaused', priority: 1 },
  { name: 'Service', type: 'string', jsonPath: '.status.serviceName', description: 'service for clients', priority: 1 },
  { name: 'Reason', type: 'string', jsonPath: '.status.reason', description: 'why it failed', priority: 1 },
  {
    name: 'Trouble',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Degraded")].message',
    description: 'what is wrong',
    priority: 1,
  },
];

const etcdCluster: Kind = {
  group,
  version,
  kind: 'EtcdCluster',
  shortNames: ['etcdclus', 'etcd'],
  description: 'An etcd cluster: you say how many members of which version, the operator makes it so and keeps it so.',
  nameRules,
  spec: etcdClusterSpec,
  status: etcdClusterStatus,
  columns,
  scale: {
    specReplicasPath: '.spec.size',
    statusReplicasPath: '.status.size',
    labelSelectorPath: '.status.selector',
  },
};

/** The schema of an EtcdCluster as the API server enforces it. */
export const etcdClusterSchema = (): StructuralSchema => schemaOf(etcdCluster);

/** The CustomResourceDefinition of EtcdCluster, as it is shipped and as `--create-crd` creates it. */
export const etcdClusterCrd = () => definitionOf(etcdCluster);
