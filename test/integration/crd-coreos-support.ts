import { readEtcdCluster } from '../../src/dialects/coreos-v1beta2/read.ts';
import { type Bench, benchFor, type Case, type Json } from './crd-support.ts';

export { accepted, type Case, done, type Json, refusal, refused, refusedAnyway, root } from './crd-support.ts';

interface CoreosBench extends Omit<Bench, 'judge'> {
  readonly judge: (cases: Readonly<Record<string, readonly Case[]>>) => void;
}

/** Each file has a bench of its own: files share a process. */
export function coreosBench(): CoreosBench {
  const bench = benchFor('crd-coreos');
  return { ...bench, judge: (cases) => bench.judge(cases, readEtcdCluster) };
}

/** An EtcdCluster as a user writes it: a small good one, and what is special about it. */
export const etcdCluster = (spec: Json, metadata: Json = {}): Json => ({
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdCluster',
  metadata: { name: 'example', ...metadata },
  spec: { size: 3, ...spec },
});
