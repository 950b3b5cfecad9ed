import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Parsed } from '../../src/apis/common/schema/parsed.ts';
import { attempt } from '../../tools/lib/run.ts';
import { messageOf, warningsOf } from '../contract/server.ts';
import { namespaceFor, type PreparedContract } from '../contract/support.ts';

export { done, refusal } from '../contract/server.ts';

export const root = join(import.meta.dirname, '../..');

export type ManifestJson = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly accepted: boolean;
  /** The error message and the warnings of the server. */
  readonly message: string;
  /** The object as it would be stored. */
  readonly stored?: unknown;
}

/**
 * The expected verdict on an object. A refusal contains the server's message, which names the field. An acceptance contains
 * why the object is harmless. The operator's reader must reach the same verdict. The exception are checks that Kubernetes
 * makes for every object: such an object is never stored, so the reader never sees it.
 */
export type Verdict =
  | { readonly is: 'refused'; readonly message: string }
  | { readonly is: 'refused by Kubernetes itself'; readonly message: string }
  | { readonly is: 'accepted'; readonly because: string };

export type Case = readonly [title: string, object: ManifestJson, verdict: Verdict];

export const refused = (message: string): Verdict => ({ is: 'refused', message });
export const refusedAnyway = (message: string): Verdict => ({ is: 'refused by Kubernetes itself', message });
export const accepted = (because = 'the object is valid'): Verdict => ({ is: 'accepted', because });

/** A namespace for the tests of one file. The suite's setup installs the CRDs of both APIs. */
export interface Bench extends PreparedContract {
  /** Creates an object in a dry run over plain HTTP, as `kubectl create --dry-run=server` does. */
  readonly offer: (object: ManifestJson) => Promise<Answer>;
  /** Creates an object in a dry run with kubectl; `input` is JSON or YAML. */
  readonly offerByKubectl: (input: string) => Promise<Answer>;
  /** The object as the reader would get it if the API server had stored it. */
  readonly asStored: (object: ManifestJson) => ManifestJson;
  /** Defines a test for each case, and for one case of each table a test with kubectl. */
  readonly judge: (cases: Readonly<Record<string, readonly Case[]>>, read: Read) => void;
}

type Read = (raw: unknown) => Parsed<unknown>;

export function benchFor(title: string): Bench {
  const prepared = namespaceFor(title);
  const { namespace, create } = prepared;
  const offer = async (object: ManifestJson): Promise<Answer> => {
    const answer = await create(object, '&dryRun=All&fieldManager=kubectl-create');
    const message = warningsOf(answer).concat(messageOf(answer.body)).filter(Boolean).join('\n');
    return answer.code === 201 ? { accepted: true, message, stored: answer.body } : { accepted: false, message };
  };
  const offerByKubectl = async (input: string): Promise<Answer> => {
    const args = ['--namespace', namespace, 'create', '--dry-run=server', '--output=json', '--filename=-'];
    const { code, stdout, stderr } = await attempt('kubectl', args, { input });
    return code === 0
      ? { accepted: true, message: stderr, stored: JSON.parse(stdout) as unknown }
      : { accepted: false, message: stderr };
  };
  const asStored = (object: ManifestJson): ManifestJson => ({
    ...object,
    metadata: { namespace, uid: 'some-uid', ...(object['metadata'] as ManifestJson) },
  });
  const judge: Bench['judge'] = (cases, read) => {
    describe.each(Object.entries(cases))('%s', (_, those) => {
      it.each(withVerdictInTitle(those))('%s', async (_title, object, verdict) => {
        const answer = await offer(object);
        expectVerdict(answer, object, verdict);
        if (verdict.is === 'refused by Kubernetes itself') return;
        expect(read(answer.accepted ? answer.stored : asStored(object)).ok).toBe(verdict.is === 'accepted');
      });
      it.each(sampleOf(those))('kubectl reports the same verdict: %s', async (_title, object, verdict) => {
        expectVerdict(await offerByKubectl(JSON.stringify(object)), object, verdict);
      });
    });
  };
  return { ...prepared, offer, offerByKubectl, asStored, judge };
}

function expectVerdict(answer: Answer, object: ManifestJson, verdict: Verdict): void {
  if (verdict.is !== 'accepted') {
    expect(answer).toMatchObject({ accepted: false, message: expect.stringContaining(verdict.message) });
    return;
  }
  expect(answer, verdict.because).toMatchObject({ accepted: true, message: '', stored: { kind: object['kind'] } });
}

const withVerdictInTitle = (cases: readonly Case[]): readonly Case[] =>
  cases.map(([title, object, verdict]) => [`${title}: ${verdict.is}`, object, verdict]);

/** Prefers a refusal: kubectl formats its message from the parts of the Status. */
const sampleOf = (cases: readonly Case[]): readonly Case[] =>
  [cases.find(([, , { is }]) => is !== 'accepted') ?? cases[0]].filter((found) => found !== undefined);
