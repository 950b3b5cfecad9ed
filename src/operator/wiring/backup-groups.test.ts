import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { improbable } from '../../apis/improbable-v1alpha1/dialect.ts';
import { Failure } from '../../std/failure.ts';
import { settingsFrom } from '../settings.ts';
import { makeLog } from '../telemetry/log.ts';
import { runBackupControllers } from './backup-groups.ts';

/** The objects that an operator reads before it starts the backup controllers, until it has read `last`. */
async function askedFor(
  last: string,
  flags: readonly string[],
  { lacks = [], served }: { readonly lacks?: readonly string[]; readonly served?: string } = {},
): Promise<readonly string[]> {
  const asked: string[] = [];
  const stop = new AbortController();
  const get = async ({ plural }: { plural: string }, { name, namespace }: { name: string; namespace: string }) => {
    asked.push(`${namespace === 'eco-system' ? '' : `${namespace}: `}${plural}/${name}`);
    if (asked.at(-1) === last) stop.abort();
    throw new Failure('not-found', name);
  };
  const turn = {
    ...{
      client: { get, list: async () => ({ items: [] }) },
      namespace: 'eco-system',
      dialerTo: undefined,
    },
    ...{ settings: settingsFrom(flags, {}), log: makeLog('silent'), metrics: new Registry(), lacks: new Set(lacks) },
    ...{ dialects: [{ name: 'improbable', dialect: improbable }], identity: 'ours', isOurs: () => true },
    places: [{ namespace: served, dialects: [{ name: 'improbable', dialect: improbable }], lacks: new Set() }],
    onFailure: () => {},
  };
  await runBackupControllers(turn as never, stop.signal);
  return asked;
}

const defaultLock = 'configmaps/etcd-cluster-operator-controller-leader-election-helper';

describe('before the backup controllers start, the operator', () => {
  it('also reads the original’s lock under the name from --leader-election-id', async () => {
    const asked = await askedFor('configmaps/mine', ['--leader-election-id=mine'], { lacks: ['leases'] });
    expect(asked).toEqual([defaultLock, 'configmaps/mine']);
  });

  it('does not wait for a Lease without leader election', async () => {
    expect(await askedFor(defaultLock, ['--enable-leader-election=false'])).toEqual([defaultLock]);
  });

  it('reads the original’s lock in a served namespace', async () => {
    const there = `team-a: ${defaultLock}`;
    expect(await askedFor(there, ['--enable-leader-election=false'], { served: 'team-a' })).toEqual([
      defaultLock,
      there,
    ]);
  });
});
