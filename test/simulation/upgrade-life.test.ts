import { describe, expect, it } from 'vitest';
import { SimulatedUpgrade } from './simulated-upgrade.ts';

const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const onVolumes = { pod: { persistentVolumeClaimSpec: claim } };
const otherPods = { etcdEnv: [{ name: 'ETCD_MAX_TXN_OPS', value: '256' }] };

interface Scenario {
  readonly title: string;
  readonly from: Readonly<Record<string, unknown>>;
  readonly to: Readonly<Record<string, unknown>>;
  /** True if members keep their IDs. */
  readonly stay: boolean;
}

const scenarios: readonly Scenario[] = [
  { title: 'upgrades members in place', from: { version: '3.5.35' }, to: { version: '3.6.16' }, stay: true },
  {
    title: 'upgrades by three minors',
    from: { version: '3.4.31', ...onVolumes },
    to: { version: '3.7.3' },
    stay: true,
  },
  {
    title: 'upgrades by two old minors',
    from: { version: '3.2.32', ...onVolumes },
    to: { version: '3.4.37' },
    stay: true,
  },
  { title: 'downgrades by one minor', from: { version: '3.7.3', ...onVolumes }, to: { version: '3.6.16' }, stay: true },
  {
    title: 'replaces members without PVCs',
    from: { version: '3.5.35' },
    to: { version: '3.6.16', pod: otherPods },
    stay: false,
  },
  {
    title: 'replaces members because their storage class changes',
    from: { version: '3.4.31', ...onVolumes },
    to: { version: '3.5.35', pod: { persistentVolumeClaimSpec: { ...claim, storageClassName: 'fast' } } },
    stay: false,
  },
  {
    title: 'upgrades and recreates pods on their PVCs',
    from: { version: '3.6.16', ...onVolumes },
    to: { version: '3.7.3', pod: { ...onVolumes.pod, ...otherPods } },
    stay: true,
  },
  {
    title: 'upgrades by three minors and recreates pods',
    from: { version: '3.4.31', ...onVolumes },
    to: { version: '3.7.3', pod: { ...onVolumes.pod, ...otherPods } },
    stay: true,
  },
  {
    title: 'upgrades by way of the last 3.5 patch',
    from: { version: '3.5.20' },
    to: { version: '3.6.16' },
    stay: true,
  },
  {
    title: 'upgrades by way of the last 3.6 patch',
    from: { version: '3.6.5', ...onVolumes },
    to: { version: '3.7.3' },
    stay: true,
  },
  {
    title: 'upgrades by way of required patches and recreates pods',
    from: { version: '3.5.20', ...onVolumes },
    to: { version: '3.7.3', pod: { ...onVolumes.pod, ...otherPods } },
    stay: true,
  },
  {
    title: 'upgrades by way of a required patch and replaces members',
    from: { version: '3.5.20' },
    to: { version: '3.6.16', pod: otherPods },
    stay: false,
  },
  {
    title: 'downgrades by two minors',
    from: { version: '3.7.3', ...onVolumes },
    to: { version: '3.5.35' },
    stay: true,
  },
];

const idsIn = ({ members }: SimulatedUpgrade): readonly bigint[] => members.entries.map(({ id }) => id);

describe.each(scenarios)('an operator that $title', { timeout: 120_000 }, ({ from, to, stay }) => {
  it('settles without violations wherever it is killed', async () => {
    const newCluster = (): Promise<SimulatedUpgrade> => SimulatedUpgrade.of({ size: 3, ...from });
    const [undisturbed, killedOften] = [await newCluster(), await newCluster()];
    const before = idsIn(undisturbed);
    const moments = await undisturbed.changeAndRemember(to);
    expect(undisturbed.steps).toBeGreaterThan(5);
    expect(moments.length).toBeGreaterThan(undisturbed.steps);
    await killedOften.change(to, { diesAfterEachStep: true });
    for (const { life } of moments) await life.resume();
    const lives = [
      { title: 'not killed', life: undisturbed },
      { title: 'killed after each step', life: killedOften },
      ...moments,
    ];
    for (const { title, life } of lives) {
      expect(life.members.violations, title).toEqual([]);
      expect(
        idsIn(life).filter((id) => before.includes(id)),
        title,
      ).toHaveLength(stay ? 3 : 0);
    }
  });
});

describe('Events about member versions', () => {
  it('report each upgrade and downgrade of each member once, when the member runs the version', async () => {
    const life = await SimulatedUpgrade.of({ size: 3, version: '3.6.16', ...onVolumes });
    const names = life.members.entries.map(({ name }) => name);
    await life.change({ version: '3.7.3' });
    await life.change({ version: '3.6.16' });
    const wanted = names.flatMap((name) => [
      `Member ${name} upgraded from 3.6.16 to 3.7.3`,
      `Member ${name} downgraded from 3.7.3 to 3.6.16`,
    ]);
    expect(life.versionEvents.toSorted()).toEqual(wanted.toSorted());
    expect(life.members.violations).toEqual([]);
  });

  it('report intermediate versions of a single member', async () => {
    const life = await SimulatedUpgrade.of({ size: 1, version: '3.4.31', ...onVolumes });
    await life.change({ version: '3.6.16' });
    expect(life.versionEvents.map((message) => message.replace(/^Member \S+ /, ''))).toEqual([
      'upgraded from 3.4.31 to 3.5.35',
      'upgraded from 3.5.35 to 3.6.16',
    ]);
  });
});
