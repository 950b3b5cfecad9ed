import { readEtcdCluster, readEtcdPeer } from '../../src/dialects/improbable-v1alpha1/read.ts';
import { benchFor, type Case, type Json } from './crd-support.ts';

export { accepted, type Case, type Json, refused, root } from './crd-support.ts';

const bench = benchFor('crd-improbable', {
  'examples/improbable/crd/etcdbackups.yaml': 'etcdbackups.etcd.improbable.io',
  'examples/improbable/crd/etcdbackupschedules.yaml': 'etcdbackupschedules.etcd.improbable.io',
  'examples/improbable/crd/etcdclusters.yaml': 'etcdclusters.etcd.improbable.io',
  'examples/improbable/crd/etcdpeers.yaml': 'etcdpeers.etcd.improbable.io',
  'examples/improbable/crd/etcdrestores.yaml': 'etcdrestores.etcd.improbable.io',
});

export const { namespace, kubectl, offer, asStored, withDefinition } = bench;

/** Objects as a user writes them: a small good one, and what is special about it. */
const object =
  (kind: string, least: Json) =>
  (spec: Json, metadata: Json = {}): Json => ({
    apiVersion: 'etcd.improbable.io/v1alpha1',
    kind,
    metadata: { name: 'my-etcd', ...metadata },
    spec: { ...least, ...spec },
  });

export const etcdCluster = object('EtcdCluster', { replicas: 3 });
export const etcdPeer = object('EtcdPeer', { clusterName: 'my-etcd' });

type Cases = Readonly<Record<string, readonly Case[]>>;

export const judge = (cases: Cases): void => bench.judge(cases, readEtcdCluster);
export const judgePeers = (cases: Cases): void => bench.judge(cases, readEtcdPeer);
