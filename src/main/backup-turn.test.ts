import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { improbable } from '../dialects/improbable-v1alpha1/dialect.ts';
import { Failure } from '../std/failure.ts';
import { lookAfterBackups } from './backup-turn.ts';
import { makeLog } from './log.ts';
import { settingsFrom } from './settings.ts';

/** What an operator with these flags asks the API server for before it looks after backups, until it has asked for `last`. */
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
      wayTo: undefined,
    },
    ...{ settings: settingsFrom(flags, {}), log: makeLog('silent'), metrics: new Registry(), lacks: new Set(lacks) },
    ...{ dialects: [{ name: 'improbable', dialect: improbable }], identity: 'ours', isOurs: () => true },
    places: [{ namespace: served, dialects: [{ name: 'improbable', dialect: improbable }], lacks: new Set() }],
    onTrouble: () => {},
  };
  await lookAfterBackups(turn as never, stop.signal);
  return asked;
}

const usual = 'configmaps/etcd-cluster-operator-controller-leader-election-helper';

describe('before backups are looked after', () => {
  it('the lock of the original is looked for under the name that the flag gives, too', async () => {
    const asked = await askedFor('configmaps/mine', ['--leader-election-id=mine'], { lacks: ['leases'] });
    expect(asked).toEqual([usual, 'configmaps/mine']);
  });

  it('no turn is waited for by whoever takes none', async () => {
    expect(await askedFor(usual, ['--enable-leader-election=false'])).toEqual([usual]);
  });

  it('the lock of an original in a namespace that is served is looked for there', async () => {
    const there = `team-a: ${usual}`;
    expect(await askedFor(there, ['--enable-leader-election=false'], { served: 'team-a' })).toEqual([usual, there]);
  });
});
