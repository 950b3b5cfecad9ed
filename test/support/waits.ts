import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { KubeObject, Stored } from '../../src/kube/object.ts';
import type { Shown, Within } from './api.ts';
import { theClient } from './kube-client.ts';
import { textOf, valuesAt } from './paths.ts';
import { patience } from './patience.ts';
import { type Target, targetOf } from './targets.ts';
import { isAssertion, ranOut } from './until.ts';

/** What must be true of an object. */
export interface Claim {
  readonly what: string;
  readonly holds: (object: Stored<KubeObject>) => boolean;
  /** How long it may take until it is, on a machine that does nothing else; stretched as all limits are. */
  readonly seconds?: number;
}

/** The same claim, for which there is more time, or less. */
export const inSeconds = (seconds: number, claim: Claim): Claim => ({ ...claim, seconds });

interface Wait<T, Answer> {
  readonly what: string;
  /** Is asked with all objects that are meant, at first and after each change. */
  readonly answer: (objects: readonly Shown<T>[]) => Answer | undefined;
  /** On a machine that does nothing else; stretched as all limits are. */
  readonly seconds?: number;
}

const pauseMillis = 200;

/** Watches objects until there is an answer, and gives it back. A server that ends the watch is asked again. */
export async function watchUntil<T, Answer>(within: Within, words: string, wait: Wait<T, Answer>): Promise<Answer> {
  const limit = (wait.seconds ?? 60) * patience;
  const signal = AbortSignal.timeout(limit * 1000);
  const seen: Seen = { last: [], failure: undefined };
  while (!signal.aborted) {
    const answer = await answered(states(within, targetOf(words), signal), wait, seen).catch((thrown: unknown) => {
      if (!signal.aborted || isAssertion(thrown)) seen.failure = thrown; // a watch that is cut off at the deadline tells nothing
      return undefined;
    });
    if (answer !== undefined) return answer;
    await sleep(pauseMillis);
  }
  const { last, failure: cause } = seen;
  throw ranOut(`not within ${limit} s: ${words}: ${wait.what}; last seen: ${summaryOf(last)}`, cause);
}

/** What is shown of a wait that ran out. */
interface Seen {
  last: readonly Stored<KubeObject>[];
  /** Why there is no answer for what was seen last; undefined where it was only not the one that is waited for. */
  failure: unknown;
}

async function answered<T, Answer>(
  all: AsyncIterable<readonly Stored<KubeObject>[]>,
  { answer }: Wait<T, Answer>,
  seen: Seen,
): Promise<Answer | undefined> {
  for await (const objects of all) {
    seen.last = objects;
    const given = answer(objects as readonly Shown<T>[]);
    if (given !== undefined) return given;
    seen.failure = undefined;
  }
  return undefined;
}

/** The objects that are meant, at first and after each change. */
async function* states(
  { namespace }: Within,
  { resource, name, labelSelector }: Target,
  signal: AbortSignal,
): AsyncGenerator<readonly Stored<KubeObject>[]> {
  const client = await theClient();
  const fieldSelector = name === undefined ? undefined : `metadata.name=${name}`;
  const selection = { namespace, labelSelector, fieldSelector, signal };
  const { items, resourceVersion } = await client.list<KubeObject>(resource, selection);
  const objects = new Map(items.map((item) => [item.metadata.name, item]));
  yield [...objects.values()];
  for await (const event of client.watch<KubeObject>(resource, { ...selection, resourceVersion })) {
    if (event.type === 'BOOKMARK') continue;
    const { object } = event;
    if (event.type === 'DELETED') objects.delete(object.metadata.name);
    else objects.set(object.metadata.name, object);
    yield [...objects.values()];
  }
}

function summaryOf(objects: readonly Stored<KubeObject>[]): string {
  const seen = objects.map(({ metadata: { name, deletionTimestamp }, ...rest }) => ({
    ...{ name, deletionTimestamp },
    status: (rest as { status?: unknown }).status,
  }));
  return inspect(seen, { depth: 6, breakLength: 200 }).slice(0, 4_000);
}

/** Waits until a claim holds of the object, or of all objects that are meant, of which there must be one. */
export async function waitFor(within: Within, words: string, { what, holds, seconds = 60 }: Claim): Promise<void> {
  const answer = (objects: readonly Stored<KubeObject>[]): true | undefined =>
    (objects.length > 0 && objects.every(holds)) || undefined;
  await watchUntil(within, words, { what, answer, seconds });
}

/** Waits until all that is meant now is gone; another object under the same name may be there. */
export async function waitForDeletion(within: Within, words: string, seconds = 60): Promise<void> {
  let doomed: ReadonlySet<string> | undefined;
  const answer = (objects: readonly Stored<KubeObject>[]): true | undefined => {
    const uids = objects.map(({ metadata }) => metadata.uid);
    doomed ??= new Set(uids);
    return !uids.some((uid) => doomed?.has(uid)) || undefined;
  };
  await watchUntil(within, words, { what: 'deleted', answer, seconds });
}

/** That there is such an object. */
export const created: Claim = { what: 'created', holds: () => true };

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: number;
}

interface Observed {
  readonly status?: { readonly conditions?: readonly Condition[]; readonly observedGeneration?: number };
}

const isOfNewestSpec = ({ metadata: { generation = 0 } }: KubeObject, observed: number): boolean =>
  observed >= generation;

/** That a condition has a status, and was found for the newest spec: as `kubectl wait --for=condition=…` has it. */
export const condition = (type: string, status = 'True'): Claim => ({
  what: `condition ${type} is ${status}`,
  holds: (object) => {
    const { conditions = [], observedGeneration = Number.POSITIVE_INFINITY } = (object as Observed).status ?? {};
    const found = conditions.find((each) => each.type === type);
    return found?.status === status && isOfNewestSpec(object, found.observedGeneration ?? observedGeneration);
  },
});

/** That a field has a value, or any but an empty one: `field('.status.upgradePath[0]', '3.5.35')`. */
export const field = (path: string, value?: string | number | boolean): Claim => ({
  what: value === undefined ? `${path} is set` : `${path} is ${value}`,
  holds: (object) => {
    const [found = ''] = valuesAt(object, path);
    return value === undefined ? found !== '' : textOf(found) === textOf(value);
  },
});

const notBegun = { observedGeneration: 0, replicas: 0, updatedReplicas: 0, availableReplicas: 0 };

interface Rollout extends KubeObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: Partial<typeof notBegun>;
}

/** That all pods of a Deployment are of its newest template, and available: as `kubectl rollout status` has it. */
export const rolledOut: Claim = {
  what: 'rolled out',
  holds: (object) => {
    const { spec: { replicas: wanted = 1 } = {}, status } = object as Rollout;
    const { observedGeneration, replicas, updatedReplicas, availableReplicas } = { ...notBegun, ...status };
    const areAllNew = updatedReplicas >= wanted && replicas <= updatedReplicas;
    return isOfNewestSpec(object, observedGeneration) && areAllNew && availableReplicas >= updatedReplicas;
  },
};
