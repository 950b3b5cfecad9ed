import { describe, expect, it } from 'vitest';
import { Watched } from '../../src/controllers/cluster/observe/watched.ts';
import { clusterReconciler } from '../../src/controllers/cluster/reconcile.ts';
import type { ControllerContext } from '../../src/controllers/shared/context.ts';
import { SimulatedUpgrade } from './simulated-upgrade.ts';

const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const onVolumes = { pod: { persistentVolumeClaimSpec: claim } };
const otherPods = { pod: { ...onVolumes.pod, etcdEnv: [{ name: 'ETCD_MAX_TXN_OPS', value: '256' }] } };

/** Runs passes of an operator with a skewed clock until the cluster matches its spec. */
async function settleWithSkew(skewMillis: number, life: SimulatedUpgrade): Promise<void> {
  let seconds = 0;
  const context = life.context();
  const now = (): Date => new Date(context.now().getTime() + skewMillis);
  const skewed: ControllerContext = { ...context, now, watched: new Watched({ monotonic: () => seconds * 1000 }) };
  const reconcile = clusterReconciler(skewed);
  for (let calm = 0; calm < 4 && seconds < 400; seconds += 1) {
    await reconcile('n/db', new AbortController().signal);
    life.nodesAct();
    calm = life.matchesSpec() && seconds > secondsDown ? calm + 1 : 0;
  }
  expect(life.matchesSpec()).toBe(true);
}

const secondsDown = 20;
const tenMinutes = 600_000;

describe.each([
  ['ahead', tenMinutes],
  ['behind', -tenMinutes],
])('an operator whose clock is ten minutes %s', { timeout: 60_000 }, (_, skew) => {
  it('waits for a member that is down for 20 seconds and removes no member', async () => {
    const life = await SimulatedUpgrade.of({ size: 3, version: '3.6.16', ...onVolumes });
    const before = life.members.entries.map(({ id }) => id);
    const victim = life.members.entries[0]?.name ?? '';
    const start = life.members.start.bind(life.members);
    let tries = 0;
    life.members.start = (started) => (started.name !== victim || ++tries > secondsDown) && start(started);
    life.members.stop(victim);
    await settleWithSkew(skew, life);
    expect(tries).toBeGreaterThan(secondsDown);
    expect(life.members.entries.map(({ id }) => id)).toEqual(before);
  });

  it.each([
    ['upgrades members on volumes', { version: '3.5.35', ...onVolumes }, { version: '3.6.16' }],
    ['upgrades members without volumes', { version: '3.5.35' }, { version: '3.6.16' }],
    ['recreates pods on their volumes', { version: '3.6.16', ...onVolumes }, otherPods],
  ])('%s and removes no member', async (__, from, to) => {
    const life = await SimulatedUpgrade.of({ size: 3, ...from });
    const before = life.members.entries.map(({ id }) => id);
    life.updateSpec(to);
    await settleWithSkew(skew, life);
    expect(life.members.entries.map(({ id }) => id)).toEqual(before);
    expect(life.members.violations).toEqual([]);
  });
});
