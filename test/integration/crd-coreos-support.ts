import { readEtcdCluster } from '../../src/apis/coreos-v1beta2/read.ts';
import { type Bench, benchFor, type Case, type ManifestJson } from './crd-support.ts';

export { accepted, type Case, done, type ManifestJson, refusal, refused, refusedAnyway, root } from './crd-support.ts';

interface CoreosBench extends Omit<Bench, 'judge'> {
  readonly judge: (cases: Readonly<Record<string, readonly Case[]>>) => void;
}

/** Every test file needs its own bench, because the files share a process. */
export function coreosBench(): CoreosBench {
  const bench = benchFor('crd-coreos');
  return { ...bench, judge: (cases) => bench.judge(cases, readEtcdCluster) };
}

/** A minimal valid EtcdCluster with additional spec fields and metadata. */
export const etcdCluster = (spec: ManifestJson, metadata: ManifestJson = {}): ManifestJson => ({
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdCluster',
  metadata: { name: 'example', ...metadata },
  spec: { size: 3, ...spec },
});
