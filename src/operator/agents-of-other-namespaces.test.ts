import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { FakeLeases } from '../../test/support/fake-leases.ts';
import { improbable } from '../apis/improbable-v1alpha1/dialect.ts';
import { agentForMetadata } from '../controllers/shared/agent-namespace.ts';
import { agentLabel } from '../controllers/shared/agent-pods.ts';
import { Failure } from '../std/failure.ts';
import { settingsFrom } from './settings.ts';
import { makeLog } from './telemetry/log.ts';
import { runBackupControllers } from './wiring/backup-groups.ts';

interface Kind {
  readonly plural: string;
}
interface ReadOptions {
  readonly namespace?: string;
  readonly signal: AbortSignal;
}

const { group } = improbable;
const identity = { resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
const backup = {
  metadata: { ...identity, name: 'nightly', namespace: 'team-b', uid: 'of-b' },
  spec: {
    source: { clusterURL: 'http://db:2379' },
    destination: { objectURLTemplate: 's3://bucket/team-b/{{ .UID }}.db' },
  },
};
const agentFor = agentForMetadata(group, { uid: 'of-b', namespace: 'team-b', name: 'nightly' });
const agent = {
  metadata: {
    ...{ ...identity, name: 'nightly-save', namespace: 'operators', uid: 'agent' },
    labels: { ...agentFor.labels, [agentLabel(group)]: 'backup' },
    annotations: agentFor.annotations,
  },
  spec: { containers: [] },
  status: { phase: 'Running' },
};
const stored: Readonly<Record<string, readonly object[]>> = {
  'etcdbackups team-b': [backup],
  'pods operators': [agent],
};

/** An API server that serves single namespaces only, and records requests. */
function serverOf(read: string[], removed: string[]) {
  const leases = new FakeLeases().clientOf('us');
  return {
    ...leases,
    get: async (kind: Kind, at: never) => {
      if (kind.plural === 'leases') return leases.get(kind as never, at);
      throw new Failure('not-found', kind.plural);
    },
    list: async () => ({ items: [] }),
    pages: async function* ({ plural }: Kind, { namespace }: ReadOptions) {
      read.push(`${plural} ${namespace}`);
      yield { items: stored[`${plural} ${namespace}`] ?? [], resourceVersion: '1' };
    },
    watch: async function* (_: Kind, { signal }: ReadOptions) {
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      yield* [];
    },
    patch: async () => ({ metadata: { ...identity, resourceVersion: '2' } }),
    remove: async ({ plural }: Kind, { name }: { name: string }) => void removed.push(`${plural} ${name}`),
  };
}

it('a controller does not remove agents of other namespaces from the operator’s namespace', async () => {
  const [read, removed]: [string[], string[]] = [[], []];
  const stop = new AbortController();
  const dialects = [{ name: 'improbable' as const, dialect: improbable }];
  const flags = ['--namespaces=team-a,team-b', '--agent-image=x', '--store-secret=s', '--store-urls=s3://bucket/'];
  const turn = {
    ...{
      client: serverOf(read, removed),
      namespace: 'operators',
      dialerTo: undefined,
      identity: 'us',
      isOurs: () => true,
    },
    ...{ settings: settingsFrom(flags, {}), log: makeLog('silent'), metrics: new Registry() },
    ...{ dialects, lacks: new Set(), onFailure: () => undefined },
    places: ['team-a', 'team-b'].map((namespace) => ({ namespace, dialects, lacks: new Set() })),
  };
  const ended = runBackupControllers(turn as never, stop.signal);
  await expect.poll(() => read.filter((each) => each === 'pods operators').length).toBe(2);
  await new Promise((resolve) => setTimeout(resolve, 200));
  stop.abort();
  await ended;
  expect(removed).toEqual([]);
  expect(new Set(read.filter((each) => each.startsWith('pods')))).toEqual(
    new Set(['pods team-a', 'pods team-b', 'pods operators']),
  );
  expect(read.filter((each) => each.endsWith('undefined'))).toEqual([]);
});
