import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until.ts';
import { KeyClient, type ServiceEndpoint } from './key-client.ts';
import type { Expected, KeyAnswer, KeyChange, KeyRequest, Operation } from './operation.ts';
import { Choices } from './seeded.ts';
import { startWatchers } from './watcher.ts';
import type { WatchRecord } from './watches.ts';

export interface WorkloadSettings {
  readonly service: ServiceEndpoint;
  readonly seed: number;
  readonly clients?: number;
  readonly keys?: number;
  /** The longest pause of a client between two requests. */
  readonly pauseMillis?: number;
  /** Changes what is recorded: a client that lies. */
  readonly tamper?: (operation: Operation) => Operation;
}

/** What clients and watchers have recorded. */
export interface Recording {
  readonly operations: readonly Operation[];
  readonly watches: readonly WatchRecord[];
  /** The revision of the last write, which all watchers were given time to reach; 0 if it was not acknowledged. */
  readonly last: number;
  readonly seconds: number;
}

export interface Workload {
  readonly operations: readonly Operation[];
  /** Stops the clients, writes a last key, and waits until the watchers have received it or have had their time. */
  readonly end: () => Promise<Recording>;
}

export const prefix = 'chaos/';
const now = (): number => Math.round(performance.now() * 1000);

/** Starts clients that read and write the same few keys, and watchers. */
export function startWorkload(settings: WorkloadSettings): Workload {
  const { clients = 8, service, seed, tamper = (same) => same } = settings;
  const began = performance.now();
  const stop = new AbortController();
  const operations: Operation[] = [];
  const known = new Map<string, Expected>();
  const record = (operation: Operation): void => void operations.push(tamper(operation));
  const running = Array.from({ length: clients }, (_, client) =>
    runClient({ ...settings, client, known, record, choices: new Choices(seed * 100 + client) }, stop.signal),
  );
  const watchers = startWatchers(service, new Choices(seed * 100 + clients));
  return {
    operations,
    end: async () => {
      const seconds = (performance.now() - began) / 1000;
      stop.abort();
      await Promise.all(running);
      const last = await writeLast(service, { client: clients, record });
      const watches = await watchers.end(last);
      return { operations, watches, last: last?.revision ?? 0, seconds };
    },
  };
}

interface Client extends WorkloadSettings {
  readonly client: number;
  /** What any client has last read or written: a cas that is based on it often succeeds. */
  readonly known: Map<string, Expected>;
  readonly record: (operation: Operation) => void;
  readonly choices: Choices;
}

async function runClient(run: Client, signal: AbortSignal): Promise<void> {
  const { service, choices, pauseMillis = 100, known } = run;
  using connection = new KeyClient(service);
  for (let count = 0; !signal.aborted; count++) {
    const request = nextRequest(run, count);
    const answer = await recorded(connection, request, run);
    learn(known, request, answer);
    if (choices.fraction() < 0.02) connection.reconnect(); // clients come and go, and so reach all members
    await sleep(choices.whole(Math.round(pauseMillis / 5), pauseMillis), undefined, { signal }).catch(() => undefined);
  }
}

async function recorded(
  connection: KeyClient,
  request: KeyRequest,
  { client, record }: Pick<Client, 'client' | 'record'>,
): Promise<KeyAnswer> {
  const call = now();
  const answer = await connection.perform(request);
  record({ client, request, call, return: now(), answer });
  return answer;
}

const kinds = [
  ...(['get', 'get', 'get', 'get'] as const),
  ...(['put', 'put', 'put'] as const),
  ...(['cas', 'cas'] as const),
  'delete',
] as const;

function nextRequest({ choices, keys = 10, client, known }: Client, count: number): KeyRequest {
  const kind = choices.one([...kinds]);
  const key = `${prefix}${choices.whole(0, keys - 1)}`;
  const value = `${client}-${count}`;
  if (kind === 'get' || kind === 'delete') return { kind, key };
  if (kind === 'put') return { kind, key, value };
  const by = choices.one<Expected['by']>(['value', 'revision']);
  return { kind, key, value, expected: { ...(known.get(key) ?? { value: '', modRevision: 0 }), by } };
}

function learn(known: Map<string, Expected>, { kind, key, value = '' }: KeyRequest, answer: KeyAnswer): void {
  if (answer.outcome !== 'ok') return;
  const { revision, done, modRevision } = answer;
  if (kind === 'get') known.set(key, { value: answer.value, modRevision, by: 'revision' });
  else if (kind === 'delete') known.set(key, { value: '', modRevision: 0, by: 'revision' });
  else if (done) known.set(key, { value, modRevision: revision, by: 'revision' });
}

/** Writes a last key until the write is acknowledged. Without quorum it never is; what was recorded is checked all the same. */
async function writeLast(
  service: ServiceEndpoint,
  writer: Pick<Client, 'client' | 'record'>,
): Promise<KeyChange | undefined> {
  using connection = new KeyClient(service);
  let count = 0;
  const write = async (): Promise<KeyChange | undefined> => {
    const change = { kind: 'put', key: `${prefix}last`, value: `last-${count++}` } as const;
    const answer = await recorded(connection, change, writer);
    return answer.outcome === 'ok' ? { ...change, revision: answer.revision } : undefined;
  };
  return await until('the last write is acknowledged', write, { seconds: 30 }).catch(() => undefined);
}
