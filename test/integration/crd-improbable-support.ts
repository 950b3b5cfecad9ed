import { readEtcdCluster, readEtcdPeer } from '../../src/apis/improbable-v1alpha1/read.ts';
import { type Bench, benchFor, type Case, type ManifestJson } from './crd-support.ts';

export { accepted, type Case, done, type ManifestJson, refusal, refused, root } from './crd-support.ts';

type Cases = Readonly<Record<string, readonly Case[]>>;

interface ImprobableBench extends Omit<Bench, 'judge'> {
  readonly judge: (cases: Cases) => void;
  readonly judgePeers: (cases: Cases) => void;
}

/** Every test file needs its own bench, because the files share a process. */
export function improbableBench(): ImprobableBench {
  const bench = benchFor('crd-improbable');
  return {
    ...bench,
    judge: (cases) => bench.judge(cases, readEtcdCluster),
    judgePeers: (cases) => bench.judge(cases, readEtcdPeer),
  };
}

/** A minimal valid object with additional spec fields and metadata. */
const object =
  (kind: string, least: ManifestJson) =>
  (spec: ManifestJson, metadata: ManifestJson = {}): ManifestJson => ({
    apiVersion: 'etcd.improbable.io/v1alpha1',
    kind,
    metadata: { name: 'my-etcd', ...metadata },
    spec: { ...least, ...spec },
  });

export const etcdCluster = object('EtcdCluster', { replicas: 3 });
export const etcdPeer = object('EtcdPeer', { clusterName: 'my-etcd' });
