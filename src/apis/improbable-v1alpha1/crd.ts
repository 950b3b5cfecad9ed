import { type Column, definitionOf, type Kind, schemaOf } from '../common/schema/definition.ts';
import type { StructuralSchema } from '../common/schema/structural-schema.ts';
import { etcdClusterSpec } from './cluster-spec.ts';
import { group, nameRulesOfClusters, nameRulesOfPeers, version } from './names.ts';
import { etcdPeerSpec } from './peer-spec.ts';
import { etcdClusterStatus, etcdPeerStatus } from './status.ts';

const age: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** Columns of `kubectl get ietcd`: health first. */
const clusterColumns: readonly Column[] = [
  { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas', description: 'desired number of members' },
  { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas', description: 'number of ready members' },
  { name: 'Version', type: 'string', jsonPath: '.status.serverVersion', description: 'version of all members' },
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
  age,
  { name: 'Wanted', type: 'string', jsonPath: '.spec.version', description: 'desired version', priority: 1 },
  { name: 'Paused', type: 'boolean', jsonPath: '.status.paused', priority: 1 },
  { name: 'Service', type: 'string', jsonPath: '.status.serviceName', description: 'Service for clients', priority: 1 },
  {
    name: 'Trouble',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Degraded")].message',
    description: 'message of the condition Degraded',
    priority: 1,
  },
];

const peerColumns: readonly Column[] = [
  { name: 'Cluster', type: 'string', jsonPath: '.spec.clusterName', description: 'EtcdCluster of the member' },
  { name: 'Healthy', type: 'boolean', jsonPath: '.status.healthy', description: 'true if the member is healthy' },
  { name: 'Leader', type: 'boolean', jsonPath: '.status.leader', description: 'true if the member is the leader' },
  { name: 'Version', type: 'string', jsonPath: '.status.serverVersion', description: 'etcd version of the member' },
  age,
  { name: 'Id', type: 'string', jsonPath: '.status.id', description: 'etcd member ID', priority: 1 },
  { name: 'Role', type: 'string', jsonPath: '.status.role', priority: 1 },
];

const etcdCluster: Kind = {
  group,
  version,
  kind: 'EtcdCluster',
  shortNames: ['ietcd'],
  description:
    'EtcdCluster is an etcd cluster. The operator creates its members and keeps them at the desired number and version.',
  nameRules: nameRulesOfClusters,
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
  description:
    'EtcdPeer is one member of an etcd cluster. The operator creates EtcdPeers from an EtcdCluster; do not edit them.',
  nameRules: nameRulesOfPeers,
  spec: etcdPeerSpec,
  status: etcdPeerStatus,
  columns: peerColumns,
};

/** The schemas that the API server enforces. */
export const etcdClusterSchema = (): StructuralSchema => schemaOf(etcdCluster);
export const etcdPeerSchema = (): StructuralSchema => schemaOf(etcdPeer);

/** The CustomResourceDefinitions as shipped. */
export const etcdClusterCrd = () => definitionOf(etcdCluster);
export const etcdPeerCrd = () => definitionOf(etcdPeer);
