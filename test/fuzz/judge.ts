import type { KubeObject } from '../../lab/apiserver/object.ts';
import type { Outcome } from '../../src/runtime/outcome.ts';
import { createSecrets, hasCanary } from './canaries.ts';
import { isNamedIn } from './field-names.ts';
import { collectionPath, kinds, namesOfKind } from './kinds.ts';
import { type LabAnswer, LabApi, type LabJson, namespace } from './lab-api.ts';
import { type Example, mutated } from './mutations.ts';
import { isSettled, Operator, type Seen } from './operator.ts';

import { shapeProblems } from './pod-shape.ts';

/** What became of an example. */
export type Fate =
  | 'read'
  | 'refused by the API server'
  | 'refused by the operator'
  | 'refused pods'
  | 'served'
  | 'waiting';

export interface Judgement {
  readonly fate: Fate;
  /** Broken promises. */
  readonly problems: readonly string[];
}

/** Collections with objects that every example needs. */
const prepared = ['/secrets', '/persistentvolumeclaims'];

const cleared = [
  ...[...prepared, '/pods', '/services', '/configmaps', 'policy/poddisruptionbudgets'],
  ...kinds.map(namesOfKind).map(({ group, plural }) => `${group}/${plural}`),
];

/** A lab and two operators: one of one namespace, and one of all namespaces. */
export class FuzzBench {
  readonly api: LabApi;
  readonly #operators: Readonly<Record<'own' | 'shared', Operator>>;
  readonly #prepared: readonly KubeObject[];

  private constructor(api: LabApi) {
    this.api = api;
    this.#prepared = prepared.flatMap((collection) => api.objects(collection));
    this.#operators = { own: new Operator(api, false), shared: new Operator(api, true) };
  }

  static async start(): Promise<FuzzBench> {
    const api = await LabApi.start(kinds.map(({ definition }) => definition));
    await createSecrets(api);
    return new FuzzBench(api);
  }

  operator({ isShared }: Pick<Example, 'isShared'>): Operator {
    return this.#operators[isShared ? 'shared' : 'own'];
  }

  /** Removes all objects that examples and operators made. */
  reset(): void {
    this.api.clear(cleared, new Set(this.#prepared));
  }

  close(): void {
    for (const operator of Object.values(this.#operators)) operator.close();
    this.api.close();
  }

  /** Creates the object, then its status if that is changed too. */
  async offer(example: Example): Promise<LabAnswer> {
    const { status, ...object } = mutated(example);
    const path = collectionPath(example.kind);
    const answer = await this.api.send({ method: 'POST', path, body: JSON.stringify(object) });
    if (answer.code !== 201 || status === undefined) return answer;
    const stored = { ...answer.body, status };
    const at = `${path}/${objectName(answer.body)}/status`;
    return this.api.send({ method: 'PUT', path: at, body: JSON.stringify(stored) });
  }

  stored({ kind }: Pick<Example, 'kind'>, name: string): LabJson | undefined {
    const { group, plural } = namesOfKind(kind);
    return this.api.objects(`${group}/${plural}`).find(({ metadata }) => metadata.name === name);
  }
}

export const objectName = (object: LabJson): string => String((object['metadata'] as LabJson | undefined)?.['name']);

/** Offers an example to the API server and to the operator, and lists the promises that either breaks. */
export async function judge(example: Example, bench: FuzzBench): Promise<Judgement> {
  bench.reset();
  const { code, body, warnings } = await bench.offer(example);
  const operator = bench.operator(example);
  if (code >= 300) return refusedByServer(operator, example, { code, message: String(body['message']) });
  if (!example.isWorked) return readBy(operator, example, body);
  const outcome = await operator.work(example.kind, objectName(body));
  const { seen } = operator;
  const after = bench.stored(example, objectName(body)) ?? {};
  const status = JSON.stringify(after['status'] ?? {});
  const pods = bench.api.objects('/pods') as unknown as readonly LabJson[];
  const repeated = isSettled(outcome) ? await operator.writesForEver(example.kind, objectName(body)) : [];
  const told = [status, ...seen.events.map(({ message }) => message), ...warnings].join('\n');
  return {
    fate: fateOf(seen, pods.length),
    problems: [
      ...bugs(outcome, seen),
      ...untold(example, seen, told),
      ...silent(seen, { pods: pods.length, status, example }),
      ...pods.flatMap((pod) => shapeProblems(pod, { object: after, isShared: example.isShared })),
      ...leaks(seen, status),
      ...repeated.map((write) => `every pass writes: ${write.slice(0, 1000)}`),
    ],
  };
}

/** Reads an object, and makes every manifest of it. */
function readBy(operator: Operator, example: Example, object: LabJson): Judgement {
  const { manifests, problems } = operator.read(example.kind, object);
  const text = problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
  const isNamed = problems.length === 0 || isNamedIn(text, example);
  const pods = manifests.filter(({ kind }) => kind === 'Pod') as unknown as readonly LabJson[];
  return {
    fate: problems.length === 0 ? 'read' : 'refused by the operator',
    problems: [
      ...(isNamed ? [] : [`BadSpec names no changed field: ${text}`]),
      ...pods.flatMap((pod) => shapeProblems(pod, { object, isShared: example.isShared })),
    ],
  };
}

const bugs = (outcome: Outcome | undefined, { events }: Seen): readonly string[] => [
  ...(outcome?.is === 'failed' && outcome.failure.kind === 'bug'
    ? [`the operator fails: ${outcome.failure.stack}`]
    : []),
  ...events
    .filter(({ message }) => message.includes('unexpected:'))
    .map(({ message }) => `a bug in an Event: ${message}`),
];

interface Refusal {
  readonly code: number;
  readonly message: string;
}

/** The CRDs of the original operators have no schema: with them, the object would be stored, and the operator reads it. */
function refusedByServer(operator: Operator, example: Example, { code, message }: Refusal): Judgement {
  const stored = example.mutations.every(({ at }) => at[0] === 'spec') ? asStored(mutated(example)) : undefined;
  const problems = [
    ...(code >= 500 ? [`the API server fails with ${code}: ${message}`] : []),
    ...(isNamedIn(message, example) ? [] : [`the refusal names no changed field: ${message}`]),
    ...(stored === undefined ? [] : readBy(operator, example, stored).problems),
  ];
  return { fate: 'refused by the API server', problems };
}

/** An object with the fields that the API server adds to every object. */
const asStored = (object: LabJson): LabJson => ({
  ...object,
  metadata: {
    ...(object['metadata'] as LabJson),
    ...{ namespace, uid: 'uid', resourceVersion: '1', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
  },
});

function fateOf({ events, refusals }: Seen, pods: number): Fate {
  if (events.some(({ reason }) => reason === 'BadSpec')) return 'refused by the operator';
  if (refusals.length > 0) return 'refused pods';
  return pods > 0 ? 'served' : 'waiting';
}

/** What the operator or the API server refuses must be told, with the name of a changed field. */
function untold(example: Example, { events, refusals, warnings }: Seen, told: string): readonly string[] {
  const isNamed = (text: string): boolean => isNamedIn(text, example);
  const bad = events.filter(({ reason }) => reason === 'BadSpec');
  return [
    ...bad
      .filter(({ message }) => !isNamed(message))
      .map(({ message }) => `BadSpec names no changed field: ${message}`),
    ...refusals
      .filter((text) => !told.includes(text.slice(4, 80)))
      .map((text) => `a refused write is not told: ${text}`),
    ...refusals.filter((text) => !isNamed(text)).map((text) => `a refused write names no changed field: ${text}`),
    ...(example.kind.role === 'cluster' ? warnings : []) // the cluster of a restore reports them once it is made
      .filter((text) => !isToldOf(text, events))
      .map((text) => `dropped in silence: ${text}`),
  ];
}

/** True if an Event names a field of a pod or PVC that the API server dropped. The Event has the path in the spec. */
function isToldOf(warning: string, events: Seen['events']): boolean {
  const [, path = warning] = /"(?:spec[.])(?:.*(?=valueFrom[.]))?([^]*)"/.exec(warning) ?? [];
  return events.some(
    ({ reason, message }) =>
      reason === 'UnknownField' && (message.includes(path.slice(0, 60)) || / and \d+ more:/.test(message)),
  );
}

interface Result {
  readonly pods: number;
  readonly status: string;
  readonly example: Example;
}

/** An accepted object has a status or pods. */
function silent({ events }: Seen, { pods, status, example: { kind } }: Result): readonly string[] {
  const isSilent = kind.role !== 'peer' && pods === 0 && status === '{}' && events.length === 0;
  return isSilent ? ['the object is accepted, and nothing follows'] : [];
}

const leaks = ({ events, logs }: Seen, status: string): readonly string[] =>
  [status, ...events.map(({ message }) => message), ...logs]
    .filter(hasCanary)
    .map((text) => `the value of a Secret is in a status, Event or log: ${text.slice(0, 400)}`);
