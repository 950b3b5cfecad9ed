import { type Column, definitionOf, type Kind, schemaOf } from '../definition.ts';
import type { StructuralSchema } from '../structural-schema.ts';
import { etcdClusterSpec } from './cluster-spec.ts';
import { clusterNames, group, peerNames, version } from './names.ts';
import { etcdPeerSpec } from './peer-spec.ts';
import { etcdClusterStatus, etcdPeerStatus } from './status.ts';

const age: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** In the order of the question "is it well?". */
const clusterColumns: readonly Column[] = [
  { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas', description: 'members wanted' },
  { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas', description: 'members that serve' },
  { name: 'Version', type: 'string', jsonPath: '.status.serverVersion', description: 'version that all members run' },
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
  age,
  { name: 'Wanted', type: 'string', jsonPath: '.spec.version', description: 'version wanted', priority: 1 },
  { name: 'Paused', type: 'boolean', jsonPath: '.status.paused', priority: 1 },
  { name: 'Service', type: 'string', jsonPath: '.status.serviceName', description: 'service for clients', priority: 1 },
  {
    name: 'Trouble',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Degraded")].message',
    description: 'what is wrong',
    priority: 1,
  },
];

const peerColumns: readonly Column[] = [
  { name: 'Cluster', type: 'string', jsonPath: '.spec.clusterName', description: 'cluster it is a member of' },
  { name: 'Healthy', type: 'boolean', jsonPath: '.status.healthy', description: 'whether it answers, in sync' },
  { name: 'Leader', type: 'boolean', jsonPath: '.status.leader', description: 'whether it leads' },
  { name: 'Version', type: 'string', jsonPath: '.status.serverVersion', description: 'version it runs' },
  age,
  { name: 'Id', type: 'string', jsonPath: '.status.id', description: "etcd's number of it", priority: 1 },
  { name: 'Role', type: 'string', jsonPath: '.status.role', priority: 1 },
];

const etcdCluster: Kind = {
  group,
  version,
  kind: 'EtcdCluster',
  shortNames: ['ietcd'],
  description: 'An etcd cluster: you say how many members of which version, the operator makes it so and keeps it so.',
  nameRules: clusterNames,
  spec: etcdClusterSpec,
  status: etcdClusterStatus,
  columns: clusterColumns,
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
};

const etcdPeer: Kind = {
  group,
  version,
  kind: 'EtcdPeer',
  shortNames: ['ipeer'],
  description: 'One member of an etcd cluster. The operator makes these from an EtcdCluster; they are for looking at.',
  nameRules: peerNames,
  spec: etcdPeerSpec,
  status: etcdPeerStatus,
  columns: peerColumns,
};

/** The schemas as the API server enforces them. */
export const etcdClusterSchema = (): StructuralSchema => schemaOf(etcdCluster);
export const etcdPeerSchema = (): StructuralSchema => schemaOf(etcdPeer);

/** The CustomResourceDefinitions, as they are shipped. */
export const etcdClusterCrd = () => definitionOf(etcdCluster);
export const etcdPeerCrd = () => definitionOf(etcdPeer);
