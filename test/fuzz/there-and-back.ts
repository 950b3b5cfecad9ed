import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../lab/apiserver/object.ts';
import { unless } from '../../src/std/failure.ts';
import { type FuzzBench, objectName } from './judge.ts';
import { collectionPath, type Kind, namesOfKind, objectWith } from './kinds.ts';
import { type LabAnswer, type LabJson, namespace } from './lab-api.ts';
import { memoryIn, translated } from './manifests.ts';
import { type Example, exampleOf, mutated } from './mutations.ts';

/** The status of a cluster that has formed. */
const formed = {
  coreos: {
    ...{ phase: 'Running', clusterId: 'abc', currentVersion: '3.5.21', bootstrap: { members: ['db-0'], token: 't' } },
    memberStatus: [{ name: 'db-0', id: '1', role: 'voter' }],
  },
  improbable: {
    ...{ clusterId: 'abc', serverVersion: '3.5.21', bootstrap: { members: ['db-0'], token: 't' } },
    members: [{ name: 'db-0', id: '1', role: 'voter' }],
  },
} as const;

/** Changes that the API server never takes back, and says so. */
const isFinal = /cannot be changed|Unsupported changes|must not be less than before/;

/**
 * Creates an object A, changes it to the example, and changes it back. Lists what differs from A afterwards: the spec,
 * what the operator reads, or what it remembers.
 */
export async function thereAndBack(example: Example, bench: FuzzBench): Promise<readonly string[]> {
  const { kind, spec } = example;
  const visit = new Visit(example, bench);
  bench.reset();
  const first = await visit.create(objectWith(kind, spec));
  if (first === undefined) return ['the valid object is refused'];
  const answer = await visit.change(mutated(example));
  if (answer.code < 300) {
    const { code, body } = await visit.change(objectWith(kind, spec));
    const message = String(body['message']);
    if (code >= 300) return isFinal.test(message) ? [] : [`the way back is refused: ${message}`];
  } else if (example.mutations.every(({ at }) => at[0] === 'spec')) {
    await visit.changeUnseen(mutated(example)['spec']);
    await visit.changeUnseen(first['spec']);
  }
  const after = visit.stored();
  const isRefused = JSON.stringify(after['status'] ?? {}).includes('BadSpec');
  return [...compared(kind, first, after), ...(isRefused ? ['the status still has the reason BadSpec'] : [])];
}

/** Creates an object with one valid spec and changes it to another. Lists what differs from an object made with that. */
export async function fromTo(kind: Kind, [from, to]: readonly [LabJson, LabJson], bench: FuzzBench) {
  const visit = new Visit(exampleOf({ kind, spec: to, mutations: [], isShared: false, isWorked: true }), bench);
  bench.reset();
  const direct = await visit.create(objectWith(kind, to));
  bench.reset();
  if (direct === undefined || (await visit.create(objectWith(kind, from))) === undefined)
    return ['a valid object is refused'];
  const { code, body } = await visit.change(objectWith(kind, to));
  const message = String(body['message']);
  if (code >= 300) return isFinal.test(message) ? [] : [`the change is refused: ${message}`];
  const changed = visit.stored();
  return [
    ...same('the spec', direct['spec'], changed['spec']),
    ...same(
      'what the operator reads',
      withoutUid(translated(kind, direct), direct),
      withoutUid(translated(kind, changed), changed),
    ),
  ];
}

const withoutUid = (value: unknown, object: LabJson): unknown =>
  value === undefined
    ? undefined
    : JSON.parse(JSON.stringify(value).replaceAll(String((object['metadata'] as LabJson)['uid']), 'uid'));

class Visit {
  readonly #example: Example;
  readonly #bench: FuzzBench;

  constructor(example: Example, bench: FuzzBench) {
    this.#example = example;
    this.#bench = bench;
  }

  async create(object: LabJson): Promise<LabJson | undefined> {
    const { kind } = this.#example;
    const { code, body } = await this.#send('POST', '', object);
    if (code !== 201) return undefined;
    if (kind.role === 'cluster') await this.#send('PUT', '/db/status', { ...body, status: formed[kind.api] });
    await this.#work();
    return this.stored();
  }

  /** Replaces spec, labels and annotations. The rest of the metadata stays, and the status is the operator's. */
  async change(object: LabJson): Promise<LabAnswer> {
    const { status: _, ...wanted } = object;
    const { metadata } = this.stored() as { readonly metadata: LabJson };
    const { labels, annotations } = (wanted['metadata'] ?? {}) as LabJson;
    const body = { ...wanted, metadata: { ...metadata, labels, annotations } };
    const answer = await this.#send('PUT', '/db', body);
    if (answer.code < 300) await this.#work();
    return answer;
  }

  /**
   * Replaces the spec without validation: the CRDs of the original operators have no schema. With ours, the API server may
   * refuse the status of such an object, because a rule about the spec fails.
   */
  async changeUnseen(spec: unknown): Promise<void> {
    const { store } = this.#bench.api.state;
    const { group, plural } = namesOfKind(this.#example.kind);
    const before = this.stored() as unknown as KubeObject;
    store.put({ collection: `${group}/${plural}`, namespace, name: 'db' }, { ...before, spec });
    await unless('rejected', this.#work(), undefined);
  }

  stored(): LabJson {
    return this.#bench.stored(this.#example, 'db') ?? {};
  }

  #send(method: 'POST' | 'PUT', below: string, object: LabJson): Promise<LabAnswer> {
    const path = `${collectionPath(this.#example.kind)}${below}`;
    return this.#bench.api.send({ method, path, body: JSON.stringify(object) });
  }

  async #work(): Promise<void> {
    await this.#bench.operator(this.#example).work(this.#example.kind, objectName(this.stored()));
  }
}

function compared(kind: Example['kind'], before: LabJson, after: LabJson): readonly string[] {
  return [
    ...same('the spec', before['spec'], after['spec']),
    ...same('what the operator reads', translated(kind, before), translated(kind, after)),
    ...same('what the operator remembers', memoryIn(kind, before), memoryIn(kind, after)),
  ];
}

const same = (part: string, a: unknown, b: unknown): readonly string[] =>
  isDeepStrictEqual(plain(a), plain(b)) ? [] : [`${part} differs: ${shown(a)} became ${shown(b)}`];

/** Without functions, and without what differs between two objects or two times. */
const plain = (value: unknown): unknown =>
  value === undefined
    ? undefined
    : JSON.parse(JSON.stringify(value, (key, inner) => (counters.has(key) ? undefined : inner)));
const counters = new Set(['resourceVersion', 'generation', 'createdAt', 'creationTimestamp']);
const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 300) ?? 'nothing';
