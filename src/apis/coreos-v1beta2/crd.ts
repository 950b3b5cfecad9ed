import { type Column, definitionOf, type Kind, schemaOf } from '../common/schema/definition.ts';
import type { StructuralSchema } from '../common/schema/structural-schema.ts';
import { group, version } from './intent.ts';
import { nameRules } from './names.ts';
import { etcdClusterSpec } from './spec.ts';
import { etcdClusterStatus } from './status.ts';

/** Columns of `kubectl get etcd`: health first. Columns of priority 1 are for `-o wide`. */
const columns: readonly Column[] = [
  { name: 'Size', type: 'integer', jsonPath: '.spec.size', description: 'desired number of members' },
  { name: 'Ready', type: 'integer', jsonPath: '.status.readyMembers', description: 'number of ready members' },
  { name: 'Version', type: 'string', jsonPath: '.status.currentVersion', description: 'version of all members' },
  { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
  {
    name: 'Available',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Available")].status',
    description: 'status of the condition Available',
  },
  {
    name: 'Doing',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Progressing")].reason',
    description: 'reason of the condition Progressing',
  },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Wanted', type: 'string', jsonPath: '.spec.version', description: 'desired version', priority: 1 },
  { name: 'Paused', type: 'boolean', jsonPath: '.status.controlPaused', priority: 1 },
  { name: 'Service', type: 'string', jsonPath: '.status.serviceName', description: 'Service for clients', priority: 1 },
  { name: 'Reason', type: 'string', jsonPath: '.status.reason', description: 'why the phase is Failed', priority: 1 },
  {
    name: 'Trouble',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Degraded")].message',
    description: 'message of the condition Degraded',
    priority: 1,
  },
];

const etcdCluster: Kind = {
  group,
  version,
  kind: 'EtcdCluster',
  shortNames: ['etcdclus', 'etcd'],
  description:
    'EtcdCluster is an etcd cluster. The operator creates its members and keeps them at the desired number and version.',
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

/** The schema of EtcdCluster that the API server enforces. */
export const etcdClusterSchema = (): StructuralSchema => schemaOf(etcdCluster);

/** The CustomResourceDefinition of EtcdCluster, as shipped and as created by `--create-crd`. */
export const etcdClusterCrd = () => definitionOf(etcdCluster);
