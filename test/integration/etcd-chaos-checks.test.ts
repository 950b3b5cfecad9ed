import { expect, it } from 'vitest';
import { type CheckerLine, checkerInput } from '../chaos/checker-input.ts';
import { checkLinearizability } from '../chaos/linearizability.ts';
import { type Acknowledged, changesOf, isAcknowledged, type Operation } from '../chaos/operation.ts';
import { revisionViolations } from '../chaos/revisions.ts';
import { unionOf, watchViolations } from '../chaos/watches.ts';
import { type Recording, startWorkload } from '../chaos/workload.ts';
import { startEtcd } from '../support/etcd-cluster.ts';
import { until } from '../support/until.ts';

const line = (kind: string, rest: Partial<CheckerLine>): CheckerLine => ({
  ...{ client: 0, kind, key: 'a', value: '', expected: '', done: true, answered: true, call: 0, return: 1 },
  ...rest,
});
const put = (value: string, call: number, end: number): CheckerLine => line('put', { value, call, return: end });
const get = (value: string, call: number, end: number): CheckerLine => line('get', { value, call, return: end });
const unanswered = (given: CheckerLine): CheckerLine => {
  const { return: end, ...rest } = { ...given, done: false, answered: false };
  return end === undefined ? given : rest;
};
const cas = (expected: string, value: string, call: number): CheckerLine =>
  line('cas', { expected, value, call, return: call + 1 });

const linearizable: Readonly<Record<string, readonly CheckerLine[]>> = {
  'a read after a write': [put('1', 0, 1), get('1', 2, 3)],
  'a read of either value during a write': [put('1', 0, 1), put('2', 2, 9), get('1', 3, 4), get('2', 5, 6)],
  'an unanswered write that is applied late': [
    put('1', 0, 1),
    unanswered(put('2', 2, 3)),
    get('1', 4, 5),
    get('2', 6, 7),
  ],
  'an unanswered write that is never applied': [put('1', 0, 1), unanswered(put('2', 2, 3)), get('1', 4, 5)],
  'a refused cas': [put('1', 0, 1), { ...cas('0', '2', 2), done: false }, get('1', 4, 5)],
  'an unanswered write that another answer proves': [
    put('1', 0, 1),
    { ...put('2', 2, 9), answered: false },
    get('2', 4, 5),
  ],
  'an unanswered delete': [put('1', 0, 1), unanswered(line('delete', { call: 2 })), get('', 4, 5)],
  'a cas of a key that does not exist': [cas('', '1', 0), get('1', 2, 3)],
};

const illegal: Readonly<Record<string, readonly CheckerLine[]>> = {
  'a stale read': [put('1', 0, 1), put('2', 2, 3), get('1', 4, 5)],
  'a value that goes back': [put('1', 0, 1), put('2', 2, 9), get('2', 3, 4), get('1', 5, 6)],
  'a lost write': [put('1', 0, 1), get('', 2, 3)],
  'a cas that is applied twice': [put('1', 0, 1), cas('1', '2', 2), cas('1', '3', 4)],
  'a cas that is refused although the value is the expected one': [
    put('1', 0, 1),
    { ...cas('1', '2', 2), done: false },
  ],
  'a delete of an existing key that deletes nothing': [
    put('1', 0, 1),
    line('delete', { call: 2, return: 3, done: false }),
  ],
  'an unanswered write that is applied after an answer that proves it': [
    put('1', 0, 1),
    { ...put('2', 2, 3), answered: false },
    get('1', 4, 5),
  ],
  'a value that was never written': [put('1', 0, 1), get('7', 2, 3)],
};

it.concurrent.each(Object.keys(linearizable))('%s is linearizable', async (title) => {
  expect(await checkLinearizability(linearizable[title] ?? [])).toMatchObject({ verdict: 'ok' });
});

it.concurrent.each(Object.keys(illegal))('%s is not linearizable', async (title) => {
  const other = { ...put('1', 0, 1), key: 'b' };
  const report = await checkLinearizability([...(illegal[title] ?? []), other]);
  expect(report.verdict).toBe('illegal');
  expect(report.keys.map(({ key, verdict }) => `${key}: ${verdict}`)).toEqual(['a: illegal', 'b: ok']);
});

/** All checks of a recording. */
async function judged({ operations, watches, last }: Recording) {
  const { verdict } = await checkLinearizability(checkerInput(operations, unionOf(watches)));
  const acknowledged = changesOf(operations);
  return { verdict, revisions: revisionViolations(operations), watches: watchViolations(watches, acknowledged, last) };
}

/** Records clients of a real etcd, which is frozen and killed meanwhile. */
async function record(tamper?: (operation: Operation) => Operation): Promise<Recording> {
  await using cluster = await startEtcd({ version: '3.6.16' });
  const service = async () => cluster.member(0).endpoint;
  const workload = startWorkload({
    service,
    seed: 1,
    pauseMillis: 10,
    keys: 3,
    ...(tamper === undefined ? {} : { tamper }),
  });
  const more = (count: number): Promise<unknown> => {
    const wanted = workload.operations.filter(({ answer }) => answer.outcome === 'ok').length + count;
    const enough = () => workload.operations.filter(({ answer }) => answer.outcome === 'ok').length >= wanted;
    return until(`${count} more answers`, async () => enough() || undefined);
  };
  await more(300);
  await cluster.member(0).freeze();
  const lost = () => workload.operations.filter(({ answer }) => answer.outcome === 'unknown').length;
  await until('some requests are not answered', async () => lost() > 3 || undefined);
  cluster.member(0).thaw();
  await more(100);
  await cluster.member(0).kill();
  cluster.member(0).start();
  await more(100);
  return await workload.end(); // before the cluster is stopped
}

it('a recording of a real etcd passes every check', async () => {
  const recording = await record();
  expect(await judged(recording)).toEqual({ verdict: 'ok', revisions: [], watches: [] });
  const kinds = Map.groupBy(
    recording.operations.filter(({ answer }) => answer.outcome === 'ok'),
    ({ request }) => request.kind,
  );
  expect([...kinds.keys()].toSorted()).toEqual(['cas', 'delete', 'get', 'put']);
  expect(recording.watches.every(({ sessions }) => sessions.flatMap(({ events }) => events).length > 0)).toBe(true);
});

interface Stale {
  readonly value: string;
  /** A read that ended after the value was replaced. */
  readonly provenBy: Acknowledged;
}

/** A client that once records an old value for a read, after the answer to a read of a newer value. */
class Liar {
  lies = 0;
  readonly #newest = new Map<string, Acknowledged>();
  readonly #stale = new Map<string, Stale>();

  tamper(operation: Operation): Operation {
    if (!isAcknowledged(operation) || operation.request.kind !== 'get') return operation;
    this.#learn(operation);
    const old = this.#stale.get(operation.request.key);
    if (this.lies > 0 || old === undefined || old.provenBy.return >= operation.call) return operation;
    this.lies += 1;
    return { ...operation, answer: { ...operation.answer, value: old.value } };
  }

  /** Only reads one after the other prove an order. Each value is written once, so the old value cannot come back. */
  #learn(read: Acknowledged): void {
    const { key } = read.request;
    const last = this.#newest.get(key);
    this.#newest.set(key, read);
    if (last === undefined || last.return >= read.call) return;
    const { value } = last.answer;
    if (value !== '' && value !== read.answer.value) this.#stale.set(key, { value, provenBy: read });
  }
}

it('one lie of one client is found', async () => {
  const liar = new Liar();
  const { verdict } = await judged(await record((operation) => liar.tamper(operation)));
  expect({ verdict, lies: liar.lies }).toEqual({ verdict: 'illegal', lies: 1 });
});
