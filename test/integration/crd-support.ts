import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Parsed } from '../../src/dialects/parsed.ts';
import { kubectlPath } from '../../tools/cluster/kubectl.ts';
import { attempt, run } from '../../tools/lib/run.ts';
import { type Kubectl, kubectlIn } from '../support/kubectl.ts';

export const root = join(import.meta.dirname, '../..');

export type Json = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly accepted: boolean;
  readonly says: string;
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

/** A namespace for the tests of one file, on an API server that knows some kinds. */
export interface Bench {
  readonly namespace: string;
  readonly kubectl: Kubectl;
  /** What the API server says to a new object, which is not kept. Text goes to kubectl as it is. */
  readonly offer: (object: Json | string) => Promise<Answer>;
  /** The same object as the reader would get it, if the API server had let it through. */
  readonly asStored: (object: Json) => Json;
  /** Installs the definitions and makes the namespace. */
  readonly withDefinition: () => void;
  /** A test for each case. */
  readonly judge: (cases: Readonly<Record<string, readonly Case[]>>, read: Read) => void;
}

type Read = (raw: unknown) => Parsed<unknown>;

/** @param definitions by the path of its file, the name of each definition that is needed */
export function benchFor(title: string, definitions: Readonly<Record<string, string>>): Bench {
  const namespace = `${title}-${randomBytes(3).toString('hex')}`;
  const kubectl = kubectlIn(namespace);

  const offer = async (object: Json | string): Promise<Answer> => {
    const input = typeof object === 'string' ? object : JSON.stringify(object);
    const args = ['--namespace', namespace, 'create', '--dry-run=server', '--output=json', '--filename=-'];
    const { code, stdout, stderr } = await attempt('kubectl', args, { input });
    return code === 0 ? { accepted: true, says: stdout } : { accepted: false, says: stderr };
  };
  const asStored = (object: Json): Json => ({
    ...object,
    metadata: { namespace, uid: 'some-uid', ...(object['metadata'] as Json) },
  });
  const judge: Bench['judge'] = (cases, read) => {
    describe.each(Object.entries(cases))('%s', (_, those) => {
      it.each(those)('%s', async (_title, object, verdict) => {
        const { accepted: through, says } = await offer(object);
        if (verdict.is === 'accepted')
          expect(says, verdict.because).toContain(`"kind": ${JSON.stringify(object['kind'])}`);
        else expect(says).toContain(verdict.says);
        if (verdict.is === 'refused by Kubernetes itself') return;
        expect(read(through ? JSON.parse(says) : asStored(object)).ok).toBe(verdict.is === 'accepted');
      });
    });
  };
  return { namespace, kubectl, offer, asStored, judge, withDefinition: () => prepare(kubectl, namespace, definitions) };
}

function prepare(kubectl: Kubectl, namespace: string, definitions: Readonly<Record<string, string>>): void {
  beforeAll(async () => {
    if (!process.env['KUBECONFIG'])
      throw new Error('KUBECONFIG is not set: it must name a cluster whose API server these tests may talk to');
    process.env['PATH'] = `${dirname(kubectlPath())}:${process.env['PATH']}`;
    for (const [file, name] of Object.entries(definitions)) {
      await run('kubectl', ['apply', '--server-side', '-f', join(root, file)]);
      await kubectl(`wait crd/${name} --for=condition=Established --timeout=30s`);
    }
    await kubectl(`create namespace ${namespace}`);
  }, 60_000);
  afterAll(async () => {
    await kubectl(`delete namespace ${namespace} --wait=false`);
  });
}
