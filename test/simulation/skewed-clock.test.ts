import { describe, expect, it } from 'vitest';
import { clusterReconciler } from '../../src/controllers/cluster/reconcile.ts';
import type { Tools } from '../../src/controllers/cluster/sources.ts';
import { Watched } from '../../src/controllers/cluster/watched.ts';
import { SimulatedUpgrade } from './simulated-upgrade.ts';

const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const onDisks = { pod: { persistentVolumeClaimSpec: claim } };
const otherPods = { pod: { ...onDisks.pod, etcdEnv: [{ name: 'ETCD_MAX_TXN_OPS', value: '256' }] } };

/** Passes of an operator whose clock differs from that of nodes and API server, until all is as wanted. */
async function changedBy(skewMillis: number, life: SimulatedUpgrade): Promise<void> {
  let seconds = 0;
  const tools = life.tools();
  const now = (): Date => new Date(tools.now().getTime() + skewMillis);
  const skewed: Tools = { ...tools, now, watched: new Watched({ monotonic: () => seconds * 1000 }) };
  const reconcile = clusterReconciler(skewed);
  for (let calm = 0; calm < 4 && seconds < 400; seconds += 1) {
    await reconcile('n/db', new AbortController().signal);
    life.nodesAct();
    calm = life.isAsWanted() && seconds > secondsDown ? calm + 1 : 0;
  }
  expect(life.isAsWanted()).toBe(true);
}

const secondsDown = 20;
const tenMinutes = 600_000;

describe.each([
  ['ahead', tenMinutes],
  ['behind', -tenMinutes],
])('an operator whose clock is ten minutes %s', { timeout: 60_000 }, (_, skew) => {
  it('waits for a member that is down for a while, and removes none', async () => {
    const life = await SimulatedUpgrade.of({ size: 3, version: '3.6.16', ...onDisks });
    const before = life.members.entries.map(({ id }) => id);
    const victim = life.members.entries[0]?.name ?? '';
    const start = life.members.start.bind(life.members);
    let tries = 0;
    life.members.start = (started) => (started.name !== victim || ++tries > secondsDown) && start(started);
    life.members.stop(victim);
    await changedBy(skew, life);
    expect(tries).toBeGreaterThan(secondsDown);
    expect(life.members.entries.map(({ id }) => id)).toEqual(before);
  });

  it.each([
    ['upgrades members on volumes', { version: '3.5.35', ...onDisks }, { version: '3.6.16' }],
    ['upgrades members without volumes', { version: '3.5.35' }, { version: '3.6.16' }],
    ['makes pods again on their volumes', { version: '3.6.16', ...onDisks }, otherPods],
  ])('%s and removes none of them', async (__, from, to) => {
    const life = await SimulatedUpgrade.of({ size: 3, ...from });
    const before = life.members.entries.map(({ id }) => id);
    life.want(to);
    await changedBy(skew, life);
    expect(life.members.entries.map(({ id }) => id)).toEqual(before);
    expect(life.members.violations).toEqual([]);
  });
});
