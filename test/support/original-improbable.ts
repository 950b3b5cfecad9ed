import { improbable } from './apis.ts';
import type { Original, OriginalObject, OwnedCluster } from './originals.ts';

const volumeClaimTemplate = {
  accessModes: ['ReadWriteOnce'],
  volumeMode: 'Filesystem',
  resources: { requests: { storage: '256Mi' } },
};

/**
 * A cluster as the etcd-cluster-operator by Improbable leaves it: for each member an EtcdPeer, a ReplicaSet with one pod, and a
 * PVC without owner. Pods run as root, and peer URLs have short names.
 */
export const originalOfImprobable: Original = {
  api: improbable,
  memberNames: ({ name, size }) => Array.from({ length: size }, (_, ordinal) => `${name}-${ordinal}`),
  spec: ({ size, version }) => ({ replicas: size, version, storage: { volumeClaimTemplate } }),
  objects: (cluster, names) => [
    service(cluster),
    ...names.flatMap((peer) => [peerOf(peer, names, cluster), claimOf(peer, cluster)]),
  ],
  objectsOfPeers: (cluster, names, uidOf) =>
    names.map((peer) => replicaSetOf(peer, uidOf(peer), { ...cluster, names })),
  status: (names, { version }, ids) => ({
    replicas: names.length,
    // The IDs of unreachable members are unknown here: any number will do.
    members: names.map((name, ordinal) => ({ name, id: ids.get(name) ?? (0xa0 + ordinal).toString(16) })),
    clusterVersion: `${version.split('.').slice(0, 2).join('.')}.0`,
  }),
};

const labelsOf = (cluster: string) => ({
  'app.kubernetes.io/name': 'etcd',
  'etcd.improbable.io/cluster-name': cluster,
});
const peerLabels = (peer: string, cluster: string) => ({ ...labelsOf(cluster), 'etcd.improbable.io/peer-name': peer });

const ownership = { controller: true, blockOwnerDeletion: true };

const service = ({ name, owner }: OwnedCluster): OriginalObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, labels: labelsOf(name), ownerReferences: [{ ...owner, ...ownership }] },
  spec: {
    clusterIP: 'None',
    publishNotReadyAddresses: true,
    selector: labelsOf(name),
    ports: [
      { name: 'etcd-client', port: 2379 },
      { name: 'etcd-peer', port: 2380 },
    ],
  },
});

const peerOf = (peer: string, names: readonly string[], { name, owner, version }: OwnedCluster): OriginalObject => ({
  apiVersion: improbable.apiVersion,
  kind: 'EtcdPeer',
  metadata: { name: peer, labels: labelsOf(name), ownerReferences: [{ ...owner, ...ownership }] },
  spec: {
    clusterName: name,
    version,
    bootstrap: {
      initialClusterState: 'New',
      static: { initialCluster: names.map((each) => ({ name: each, host: `${each}.${name}` })) },
    },
    storage: { volumeClaimTemplate },
  },
});

const claimOf = (peer: string, { name }: OwnedCluster): OriginalObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: peer, labels: peerLabels(peer, name) },
  spec: volumeClaimTemplate,
});

interface ClusterMembers extends OwnedCluster {
  readonly names: readonly string[];
}

function replicaSetOf(peer: string, uid: string, cluster: ClusterMembers): OriginalObject {
  const labels = peerLabels(peer, cluster.name);
  const owner = { apiVersion: improbable.apiVersion, kind: 'EtcdPeer', name: peer, uid, ...ownership };
  const spec = {
    hostname: peer,
    subdomain: cluster.name,
    hostAliases: [{ ip: '127.0.0.1', hostnames: [`${peer}.${cluster.name}`] }],
    containers: [
      cluster.silent === true ? { ...etcdOf(peer, cluster), command: ['sleep', '3600'] } : etcdOf(peer, cluster),
    ],
    volumes: [{ name: 'etcd-data', persistentVolumeClaim: { claimName: peer } }],
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: peer, labels, ownerReferences: [owner] },
    spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

function etcdOf(peer: string, { name, version, names }: ClusterMembers): object {
  const env = {
    ETCD_INITIAL_CLUSTER: names.map((each) => `${each}=http://${each}.${name}:2380`).join(','),
    ETCD_NAME: peer,
    ETCD_INITIAL_CLUSTER_TOKEN: name,
    ETCD_INITIAL_ADVERTISE_PEER_URLS: `http://${peer}.${name}:2380`,
    ETCD_ADVERTISE_CLIENT_URLS: `http://${peer}.${name}:2379`,
    ETCD_LISTEN_PEER_URLS: 'http://0.0.0.0:2380',
    ETCD_LISTEN_CLIENT_URLS: 'http://0.0.0.0:2379',
    ETCD_INITIAL_CLUSTER_STATE: 'new',
    ETCD_DATA_DIR: '/var/lib/etcd',
  };
  return {
    name: 'etcd',
    image: `quay.io/coreos/etcd:v${version}`,
    env: Object.entries(env).map(([variable, value]) => ({ name: variable, value })),
    ports: [
      { name: 'etcd-client', containerPort: 2379 },
      { name: 'etcd-peer', containerPort: 2380 },
    ],
    volumeMounts: [{ name: 'etcd-data', mountPath: '/var/lib/etcd' }],
  };
}
