import { Registry } from 'prom-client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { FakeLeases } from '../../test/support/fake-leases.ts';
import { improbable } from '../dialects/improbable-v1alpha1/dialect.ts';
import { systemClock } from '../runtime/clock.ts';
import { Failure } from '../std/failure.ts';
import { lookAfterBackups, lookAfterRestores } from './backup-turn.ts';
import { makeLog } from './log.ts';
import { settingsFrom } from './settings.ts';

const metadata = {
  name: 'r',
  namespace: 'n',
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
};
const backup = {
  source: { clusterURL: 'http://db:2379' },
  destination: { objectURLTemplate: 's3://bucket/{{ .UID }}.db', credentialsSecret: 'aws' },
};
const declared: Readonly<Record<string, object>> = {
  etcdbackups: backup,
  etcdbackupschedules: { schedule: '@every 1h', backupTemplate: backup },
  etcdrestores: {
    source: { objectURL: 's3://bucket/db', credentialsSecret: 'aws' },
    clusterTemplate: { clusterName: 'db', spec: { replicas: 1, version: '3.6.16' } },
  },
};

interface Kind {
  readonly plural: string;
}
interface Asked {
  readonly signal: AbortSignal;
}

/** An API server with one object of a kind in it; `reading` is told what is read, and `writing` what is written. */
function serverWith(kind: string, heard: Readonly<Record<'reading' | 'writing', (plural: string) => void>>) {
  const leases = new FakeLeases().clientOf('us');
  const write = (verb: 'create' | 'update' | 'patch' | 'remove') => async (of: Kind, object: object) => {
    if (of.plural === 'leases') return leases[verb as 'create'](of as never, object as never);
    if (of.plural !== 'events') heard.writing(`${verb} ${of.plural}`);
    return { ...object, metadata: { ...metadata, resourceVersion: '2' } };
  };
  const found = { metadata, spec: declared[kind] };
  return {
    get: async (of: Kind) => {
      if (of.plural === 'leases') return leases.get(of as never, { name: '' });
      heard.reading(of.plural);
      if (of.plural !== 'secrets') throw new Failure('not-found', of.plural);
      return { metadata, data: {} };
    },
    list: async () => ({ items: [] }),
    pages: async function* ({ plural }: Kind) {
      heard.reading(plural);
      yield { items: plural === kind ? [found] : [], resourceVersion: '1' };
    },
    watch: async function* (_: Kind, { signal }: Asked) {
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      yield* [];
    },
    ...{ create: write('create'), update: write('update'), patch: write('patch'), remove: write('remove') },
  };
}

/** What an operator writes that looks after one such object, and stands still for a minute while it reads `stopsAt`. */
async function lifeWith(kind: string, stopsAt?: string) {
  const written: string[] = [];
  const stop = new AbortController();
  let stoodStillFor = 0;
  vi.spyOn(systemClock, 'monotonic').mockImplementation(() => performance.now() + stoodStillFor);
  const reading = (plural: string): void => void (stoodStillFor += plural === stopsAt ? 60_000 : 0);
  const writing = (what: string): void => {
    written.push(what);
    stop.abort();
  };
  const turn = {
    ...{ client: serverWith(kind, { reading, writing }), namespace: 'home', wayTo: undefined },
    ...{ settings: settingsFrom(['--agent-image=etcd-operator'], {}), log: makeLog('silent'), metrics: new Registry() },
    ...{ dialects: [{ name: 'improbable', dialect: improbable }], identity: 'us', isOurs: () => true },
    places: [{ namespace: undefined, dialects: [{ name: 'improbable', dialect: improbable }], lacks: new Set() }],
    ...{ lacks: new Set(), onTrouble: () => undefined },
  };
  const lookAfter = kind === 'etcdrestores' ? lookAfterRestores : lookAfterBackups;
  const end = await lookAfter(turn as never, stop.signal).catch((thrown: unknown) => Failure.from(thrown).message);
  return { written, end };
}

afterEach(() => vi.restoreAllMocks());

describe.each([
  ['etcdbackups', 'secrets', 'create pods'],
  ['etcdbackupschedules', 'etcdbackupschedules', 'create etcdbackups'],
  ['etcdrestores', 'secrets', 'create pods'],
])('an operator that looks after %s', (kind, stopsAt, step) => {
  it('takes a step while the lease of its group is its own', async () => {
    expect((await lifeWith(kind)).written).toContain(step);
  });

  it('takes none when it has stood still since it looked, and leads no more', async () => {
    const end = expect.stringContaining('this process stood still');
    expect(await lifeWith(kind, stopsAt)).toEqual({ written: [], end });
  });
});
