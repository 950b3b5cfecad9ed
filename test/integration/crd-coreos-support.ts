import { readEtcdCluster } from '../../src/dialects/coreos-v1beta2/read.ts';
import { benchFor, type Case, type Json } from './crd-support.ts';

export { accepted, type Case, refused, refusedAnyway, root } from './crd-support.ts';

const bench = benchFor('crd-coreos', {
  'examples/coreos/etcd-operator-crd.yaml': 'etcdclusters.etcd.database.coreos.com',
});

export const { namespace, kubectl, offer, asStored, withDefinition } = bench;

/** An EtcdCluster as a user writes it: a small good one, and what is special about it. */
export const etcdCluster = (spec: Json, metadata: Json = {}): Json => ({
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdCluster',
  metadata: { name: 'example', ...metadata },
  spec: { size: 3, ...spec },
});

export const judge = (cases: Readonly<Record<string, readonly Case[]>>): void => bench.judge(cases, readEtcdCluster);
