import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { KubeObject, Stored } from '../../src/kube/object.ts';
import type { ObjectWith, Within } from './api.ts';
import { theClient } from './kube-client.ts';
import { textOf, valuesAt } from './paths.ts';
import { patience } from './patience.ts';
import { type Target, targetOf } from './targets.ts';
import { isAssertion, ranOut } from './until.ts';

/** A check of an object, with a description for time-outs. */
export interface ObjectCheck {
  readonly what: string;
  readonly holds: (object: Stored<KubeObject>) => boolean;
  /** The time-out on an idle machine. It is multiplied by `patience`. */
  readonly seconds?: number;
}

/** The check with another time-out. */
export const inSeconds = (seconds: number, check: ObjectCheck): ObjectCheck => ({ ...check, seconds });

interface Wait<T, Answer> {
  readonly what: string;
  /** Called with all selected objects, at first and after each change. */
  readonly answer: (objects: readonly ObjectWith<T>[]) => Answer | undefined;
  /** The time-out on an idle machine. It is multiplied by `patience`. */
  readonly seconds?: number;
}

const pauseMillis = 200;

/** Watches objects until there is an answer; returns it. A watch that ends is restarted. */
export async function watchUntil<T, Answer>(within: Within, target: string, wait: Wait<T, Answer>): Promise<Answer> {
  const limit = (wait.seconds ?? 60) * patience;
  const signal = AbortSignal.timeout(limit * 1000);
  const seen: Seen = { last: [], failure: undefined };
  while (!signal.aborted) {
    const answer = await answered(states(within, targetOf(target), signal), wait, seen).catch((thrown: unknown) => {
      if (!signal.aborted || isAssertion(thrown)) seen.failure = thrown; // the end of a watch at the deadline is no failure
      return undefined;
    });
    if (answer !== undefined) return answer;
    await sleep(pauseMillis);
  }
  const { last, failure: cause } = seen;
  throw ranOut(`not within ${limit} s: ${target}: ${wait.what}; last seen: ${summaryOf(last)}`, cause);
}

/** The state of a wait, for the message of a time-out. */
interface Seen {
  last: readonly Stored<KubeObject>[];
  /** The error of the last attempt; undefined if it only had no answer. */
  failure: unknown;
}

async function answered<T, Answer>(
  all: AsyncIterable<readonly Stored<KubeObject>[]>,
  { answer }: Wait<T, Answer>,
  seen: Seen,
): Promise<Answer | undefined> {
  for await (const objects of all) {
    seen.last = objects;
    const given = answer(objects as readonly ObjectWith<T>[]);
    if (given !== undefined) return given;
    seen.failure = undefined;
  }
  return undefined;
}

/** The selected objects, at first and after each change. */
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

/** Waits until a check holds for all selected objects. At least one object must exist. */
export async function waitFor(
  within: Within,
  target: string,
  { what, holds, seconds = 60 }: ObjectCheck,
): Promise<void> {
  const answer = (objects: readonly Stored<KubeObject>[]): true | undefined =>
    (objects.length > 0 && objects.every(holds)) || undefined;
  await watchUntil(within, target, { what, answer, seconds });
}

/** Waits until all objects that are selected now are deleted. A new object with the same name is ignored. */
export async function waitForDeletion(within: Within, target: string, seconds = 60): Promise<void> {
  let doomed: ReadonlySet<string> | undefined;
  const answer = (objects: readonly Stored<KubeObject>[]): true | undefined => {
    const uids = objects.map(({ metadata }) => metadata.uid);
    doomed ??= new Set(uids);
    return !uids.some((uid) => doomed?.has(uid)) || undefined;
  };
  await watchUntil(within, target, { what: 'deleted', answer, seconds });
}

/** The object exists. */
export const created: ObjectCheck = { what: 'created', holds: () => true };

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: number;
}

interface Observed {
  readonly status?: { readonly conditions?: readonly Condition[]; readonly observedGeneration?: number };
}

const isLatestGeneration = ({ metadata: { generation = 0 } }: KubeObject, observed: number): boolean =>
  observed >= generation;

/** A condition has this status for the latest generation, as in `kubectl wait --for=condition=…`. */
export const condition = (type: string, status = 'True'): ObjectCheck => ({
  what: `condition ${type} is ${status}`,
  holds: (object) => {
    const { conditions = [], observedGeneration = Number.POSITIVE_INFINITY } = (object as Observed).status ?? {};
    const found = conditions.find((each) => each.type === type);
    return found?.status === status && isLatestGeneration(object, found.observedGeneration ?? observedGeneration);
  },
});

/** A field has this value, or any non-empty value: `field('.status.upgradePath[0]', '3.5.35')`. */
export const field = (path: string, value?: string | number | boolean): ObjectCheck => ({
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

/** All pods of a Deployment have its latest template and are available, as in `kubectl rollout status`. */
export const rolledOut: ObjectCheck = {
  what: 'rolled out',
  holds: (object) => {
    const { spec: { replicas: wanted = 1 } = {}, status } = object as Rollout;
    const { observedGeneration, replicas, updatedReplicas, availableReplicas } = { ...notBegun, ...status };
    const areAllNew = updatedReplicas >= wanted && replicas <= updatedReplicas;
    return isLatestGeneration(object, observedGeneration) && areAllNew && availableReplicas >= updatedReplicas;
  },
};
