import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { FakeLeases } from '../../test/support/fake-leases.ts';
import { agentLabel } from '../controllers/agents/agent-of-pod.ts';
import { awayMarks } from '../controllers/agents/away.ts';
import { improbable } from '../dialects/improbable-v1alpha1/dialect.ts';
import { Failure } from '../std/failure.ts';
import { lookAfterBackups } from './backup-turn.ts';
import { makeLog } from './log.ts';
import { settingsFrom } from './settings.ts';

interface Kind {
  readonly plural: string;
}
interface Asked {
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
const away = awayMarks(group, { uid: 'of-b', namespace: 'team-b', name: 'nightly' });
const agent = {
  metadata: {
    ...{ ...identity, name: 'nightly-save', namespace: 'operators', uid: 'agent' },
    labels: { ...away.labels, [agentLabel(group)]: 'backup' },
    annotations: away.annotations,
  },
  spec: { containers: [] },
  status: { phase: 'Running' },
};
const stored: Readonly<Record<string, readonly object[]>> = {
  'etcdbackups team-b': [backup],
  'pods operators': [agent],
};

/** An API server that shows single namespaces only, and what was asked of it. */
function serverOf(read: string[], removed: string[]) {
  const leases = new FakeLeases().clientOf('us');
  return {
    ...leases,
    get: async (kind: Kind, at: never) => {
      if (kind.plural === 'leases') return leases.get(kind as never, at);
      throw new Failure('not-found', kind.plural);
    },
    list: async () => ({ items: [] }),
    pages: async function* ({ plural }: Kind, { namespace }: Asked) {
      read.push(`${plural} ${namespace}`);
      yield { items: stored[`${plural} ${namespace}`] ?? [], resourceVersion: '1' };
    },
    watch: async function* (_: Kind, { signal }: Asked) {
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      yield* [];
    },
    patch: async () => ({ metadata: { ...identity, resourceVersion: '2' } }),
    remove: async ({ plural }: Kind, { name }: { name: string }) => void removed.push(`${plural} ${name}`),
  };
}

it('agents with the credentials of the operator are left alone by the controllers of other namespaces', async () => {
  const [read, removed]: [string[], string[]] = [[], []];
  const stop = new AbortController();
  const dialects = [{ name: 'improbable' as const, dialect: improbable }];
  const flags = ['--namespaces=team-a,team-b', '--agent-image=x', '--store-secret=s', '--store-urls=s3://bucket/'];
  const turn = {
    ...{
      client: serverOf(read, removed),
      namespace: 'operators',
      wayTo: undefined,
      identity: 'us',
      isOurs: () => true,
    },
    ...{ settings: settingsFrom(flags, {}), log: makeLog('silent'), metrics: new Registry() },
    ...{ dialects, lacks: new Set(), onTrouble: () => undefined },
    places: ['team-a', 'team-b'].map((namespace) => ({ namespace, dialects, lacks: new Set() })),
  };
  const ended = lookAfterBackups(turn as never, stop.signal);
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
