import { readEtcdCluster, readEtcdPeer } from '../../src/dialects/improbable-v1alpha1/read.ts';
import { type Bench, benchFor, type Case, type Json } from './crd-support.ts';

export { accepted, type Case, done, type Json, refusal, refused, root } from './crd-support.ts';

type Cases = Readonly<Record<string, readonly Case[]>>;

interface ImprobableBench extends Omit<Bench, 'judge'> {
  readonly judge: (cases: Cases) => void;
  readonly judgePeers: (cases: Cases) => void;
}

/** Each file has a bench of its own: files share a process. */
export function improbableBench(): ImprobableBench {
  const bench = benchFor('crd-improbable');
  return {
    ...bench,
    judge: (cases) => bench.judge(cases, readEtcdCluster),
    judgePeers: (cases) => bench.judge(cases, readEtcdPeer),
  };
}

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
