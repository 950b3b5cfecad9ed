import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Parsed } from '../../src/dialects/parsed.ts';
import { attempt } from '../../tools/lib/run.ts';
import { messageOf, warningsOf } from '../contract/server.ts';
import { namespaceFor, type Prepared } from '../contract/support.ts';

export { done, refusal } from '../contract/server.ts';

export const root = join(import.meta.dirname, '../..');

export type Json = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly accepted: boolean;
  /** Why the object was refused, and what was warned of. */
  readonly says: string;
  /** The object as it would be stored. */
  readonly stored?: unknown;
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

/** A namespace for the tests of one file. The definitions of both APIs are installed by the suite's setup. */
export interface Bench extends Prepared {
  /** What the API server says to a new object, which is not kept: `kubectl create --dry-run=server`, over plain HTTP. */
  readonly offer: (object: Json) => Promise<Answer>;
  /** The same by kubectl, which may also be given YAML. */
  readonly offerByKubectl: (input: string) => Promise<Answer>;
  /** The same object as the reader would get it, if the API server had let it through. */
  readonly asStored: (object: Json) => Json;
  /** A test for each case, and one that kubectl shows the verdict on a case of each table. */
  readonly judge: (cases: Readonly<Record<string, readonly Case[]>>, read: Read) => void;
}

type Read = (raw: unknown) => Parsed<unknown>;

export function benchFor(title: string): Bench {
  const prepared = namespaceFor(title);
  const { namespace, create } = prepared;
  const offer = async (object: Json): Promise<Answer> => {
    const answer = await create(object, '&dryRun=All&fieldManager=kubectl-create');
    const says = warningsOf(answer).concat(messageOf(answer.body)).filter(Boolean).join('\n');
    return answer.code === 201 ? { accepted: true, says, stored: answer.body } : { accepted: false, says };
  };
  const offerByKubectl = async (input: string): Promise<Answer> => {
    const args = ['--namespace', namespace, 'create', '--dry-run=server', '--output=json', '--filename=-'];
    const { code, stdout, stderr } = await attempt('kubectl', args, { input });
    return code === 0
      ? { accepted: true, says: stderr, stored: JSON.parse(stdout) as unknown }
      : { accepted: false, says: stderr };
  };
  const asStored = (object: Json): Json => ({
    ...object,
    metadata: { namespace, uid: 'some-uid', ...(object['metadata'] as Json) },
  });
  const judge: Bench['judge'] = (cases, read) => {
    describe.each(Object.entries(cases))('%s', (_, those) => {
      it.each(those)('%s', async (_title, object, verdict) => {
        const answer = await offer(object);
        expectVerdict(answer, object, verdict);
        if (verdict.is === 'refused by Kubernetes itself') return;
        expect(read(answer.accepted ? answer.stored : asStored(object)).ok).toBe(verdict.is === 'accepted');
      });
      it.each(sampleOf(those))('kubectl shows the same verdict: %s', async (_title, object, verdict) => {
        expectVerdict(await offerByKubectl(JSON.stringify(object)), object, verdict);
      });
    });
  };
  return { ...prepared, offer, offerByKubectl, asStored, judge };
}

function expectVerdict(answer: Answer, object: Json, verdict: Verdict): void {
  if (verdict.is !== 'accepted') {
    expect(answer).toMatchObject({ accepted: false, says: expect.stringContaining(verdict.says) });
    return;
  }
  expect(answer, verdict.because).toMatchObject({ accepted: true, says: '', stored: { kind: object['kind'] } });
}

/** kubectl has more to do with a refusal, whose parts it puts together again. */
const sampleOf = (cases: readonly Case[]): readonly Case[] =>
  [cases.find(([, , { is }]) => is !== 'accepted') ?? cases[0]].filter((found) => found !== undefined);
