import { Registry } from 'prom-client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { FakeLeases } from '../../test/support/fake-leases.ts';
import { improbable } from '../apis/improbable-v1alpha1/dialect.ts';
import { systemClock } from '../runtime/clock.ts';
import { Failure } from '../std/failure.ts';
import { settingsFrom } from './settings.ts';
import { makeLog } from './telemetry/log.ts';
import { runBackupControllers, runRestoreControllers } from './wiring/backup-groups.ts';

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
interface WatchOptions {
  readonly signal: AbortSignal;
}

/** An API server with one object of a kind. It calls `reading` and `writing` for each request. */
function serverWith(kind: string, calls: Readonly<Record<'reading' | 'writing', (plural: string) => void>>) {
  const leases = new FakeLeases().clientOf('us');
  const write = (verb: 'create' | 'update' | 'patch' | 'remove') => async (of: Kind, object: object) => {
    if (of.plural === 'leases') return leases[verb as 'create'](of as never, object as never);
    if (of.plural !== 'events') calls.writing(`${verb} ${of.plural}`);
    return { ...object, metadata: { ...metadata, resourceVersion: '2' } };
  };
  const found = { metadata, spec: declared[kind] };
  return {
    get: async (of: Kind) => {
      if (of.plural === 'leases') return leases.get(of as never, { name: '' });
      calls.reading(of.plural);
      if (of.plural !== 'secrets') throw new Failure('not-found', of.plural);
      return { metadata, data: {} };
    },
    list: async () => ({ items: [] }),
    pages: async function* ({ plural }: Kind) {
      calls.reading(plural);
      yield { items: plural === kind ? [found] : [], resourceVersion: '1' };
    },
    watch: async function* (_: Kind, { signal }: WatchOptions) {
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      yield* [];
    },
    ...{ create: write('create'), update: write('update'), patch: write('patch'), remove: write('remove') },
  };
}

/** The writes of an operator with one object. The process is suspended for a minute while it reads `stopsAt`. */
async function runWith(kind: string, stopsAt?: string) {
  const written: string[] = [];
  const stop = new AbortController();
  let suspendedFor = 0;
  vi.spyOn(systemClock, 'monotonic').mockImplementation(() => performance.now() + suspendedFor);
  const reading = (plural: string): void => void (suspendedFor += plural === stopsAt ? 60_000 : 0);
  const writing = (what: string): void => {
    written.push(what);
    stop.abort();
  };
  const turn = {
    ...{ client: serverWith(kind, { reading, writing }), namespace: 'home', dialerTo: undefined },
    ...{ settings: settingsFrom(['--agent-image=etcd-operator'], {}), log: makeLog('silent'), metrics: new Registry() },
    ...{ dialects: [{ name: 'improbable', dialect: improbable }], identity: 'us', isOurs: () => true },
    places: [{ namespace: undefined, dialects: [{ name: 'improbable', dialect: improbable }], lacks: new Set() }],
    ...{ lacks: new Set(), onFailure: () => undefined },
  };
  const run = kind === 'etcdrestores' ? runRestoreControllers : runBackupControllers;
  const end = await run(turn as never, stop.signal).catch((thrown: unknown) => Failure.from(thrown).message);
  return { written, end };
}

afterEach(() => vi.restoreAllMocks());

describe.each([
  ['etcdbackups', 'secrets', 'create pods'],
  ['etcdbackupschedules', 'etcdbackupschedules', 'create etcdbackups'],
  ['etcdrestores', 'secrets', 'create pods'],
])('an operator that serves %s', (kind, stopsAt, step) => {
  it('writes while it holds the lease of the group', async () => {
    expect((await runWith(kind)).written).toContain(step);
  });

  it('writes nothing after it was suspended and lost the lease', async () => {
    const end = expect.stringContaining('this process was paused');
    expect(await runWith(kind, stopsAt)).toEqual({ written: [], end });
  });
});
