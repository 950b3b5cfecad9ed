import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readEtcdCluster } from '../../src/dialects/coreos-v1beta2/read.ts';
import { kubectlPath } from '../../tools/cluster/kubectl.ts';
import { attempt, run } from '../../tools/lib/run.ts';
import { type Kubectl, kubectlIn } from '../support/kubectl.ts';

export const root = join(import.meta.dirname, '../..');
export const namespace = `crd-coreos-${randomBytes(3).toString('hex')}`;
export const kubectl: Kubectl = kubectlIn(namespace);

type Json = Readonly<Record<string, unknown>>;

/** An EtcdCluster as a user writes it: a small good one, and what is special about it. */
export const etcdCluster = (spec: Json, metadata: Json = {}): Json => ({
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdCluster',
  metadata: { name: 'example', ...metadata },
  spec: { size: 3, ...spec },
});

/** The same object as the reader would get it, if the API server had let it through. */
export function asStored(object: Json): Json {
  const metadata = { namespace, uid: 'some-uid', ...(object['metadata'] as Json) };
  return { ...object, metadata };
}

export interface Answer {
  readonly accepted: boolean;
  readonly says: string;
}

/** What the API server says to a new object, which is not kept. Text goes to kubectl as it is. */
export async function offer(object: Json | string): Promise<Answer> {
  const input = typeof object === 'string' ? object : JSON.stringify(object);
  const args = ['--namespace', namespace, 'create', '--dry-run=server', '--output=json', '--filename=-'];
  const { code, stdout, stderr } = await attempt('kubectl', args, { input });
  return code === 0 ? { accepted: true, says: stdout } : { accepted: false, says: stderr };
}

/** Installs the definition and makes a namespace for the tests of the file. */
export function withDefinition(): void {
  beforeAll(async () => {
    if (!process.env['KUBECONFIG'])
      throw new Error('KUBECONFIG is not set: it must name a cluster whose API server these tests may talk to');
    process.env['PATH'] = `${dirname(kubectlPath())}:${process.env['PATH']}`;
    await run('kubectl', ['apply', '--server-side', '-f', join(root, 'examples/coreos/etcd-operator-crd.yaml')]);
    await kubectl('wait crd/etcdclusters.etcd.database.coreos.com --for=condition=Established --timeout=30s');
    await kubectl(`create namespace ${namespace}`);
  }, 60_000);
  afterAll(async () => {
    await kubectl(`delete namespace ${namespace} --wait=false`);
  });
}

/**
 * The verdict on one kind of input: what the API server must say, naming the field; or, where it lets the object through
 * knowingly, why that does no harm. The operator's own reader must come to the same verdict, except on what Kubernetes
 * checks in every object, so that it can never have been stored.
 */
export type Verdict =
  | { readonly is: 'refused'; readonly says: string }
  | { readonly is: 'refused by Kubernetes itself'; readonly says: string }
  | { readonly is: 'accepted'; readonly because: string };

export type Case = readonly [title: string, object: Json, verdict: Verdict];

export const refused = (says: string): Verdict => ({ is: 'refused', says });
export const refusedAnyway = (says: string): Verdict => ({ is: 'refused by Kubernetes itself', says });
export const accepted = (because = 'it is good'): Verdict => ({ is: 'accepted', because });

/** A test for each case. */
export function judge(cases: Readonly<Record<string, readonly Case[]>>): void {
  describe.each(Object.entries(cases))('%s', (_, those) => {
    it.each(those)('%s', async (_title, object, verdict) => {
      const { accepted: through, says } = await offer(object);
      if (verdict.is === 'accepted') expect(says, verdict.because).toContain('"kind": "EtcdCluster"');
      else expect(says).toContain(verdict.says);
      if (verdict.is === 'refused by Kubernetes itself') return;
      expect(readEtcdCluster(through ? JSON.parse(says) : asStored(object)).ok).toBe(verdict.is === 'accepted');
    });
  });
}
