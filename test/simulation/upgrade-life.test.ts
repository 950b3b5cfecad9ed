import { describe, expect, it } from 'vitest';
import { SimulatedUpgrade } from './simulated-upgrade.ts';

const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const onDisks = { pod: { persistentVolumeClaimSpec: claim } };
const otherPods = { etcdEnv: [{ name: 'ETCD_MAX_TXN_OPS', value: '256' }] };

interface Tale {
  readonly title: string;
  readonly from: Readonly<Record<string, unknown>>;
  readonly to: Readonly<Record<string, unknown>>;
  /** Whether members are those who they were before. */
  readonly stay: boolean;
}

const tales: readonly Tale[] = [
  { title: 'upgrades members in their pods', from: { version: '3.5.35' }, to: { version: '3.6.16' }, stay: true },
  {
    title: 'walks a long way, hop by hop',
    from: { version: '3.4.31', ...onDisks },
    to: { version: '3.7.3' },
    stay: true,
  },
  {
    title: 'walks a long way of old minors',
    from: { version: '3.2.32', ...onDisks },
    to: { version: '3.4.37' },
    stay: true,
  },
  { title: 'goes back by a minor', from: { version: '3.7.3', ...onDisks }, to: { version: '3.6.16' }, stay: true },
  {
    title: 'replaces members without disks',
    from: { version: '3.5.35' },
    to: { version: '3.6.16', pod: otherPods },
    stay: false,
  },
  {
    title: 'replaces members on other disks',
    from: { version: '3.4.31', ...onDisks },
    to: { version: '3.5.35', pod: { persistentVolumeClaimSpec: { ...claim, storageClassName: 'fast' } } },
    stay: false,
  },
  {
    title: 'makes pods again on their disks',
    from: { version: '3.6.16', ...onDisks },
    to: { version: '3.7.3', pod: { ...onDisks.pod, ...otherPods } },
    stay: true,
  },
  {
    title: 'makes pods again and goes far',
    from: { version: '3.4.31', ...onDisks },
    to: { version: '3.7.3', pod: { ...onDisks.pod, ...otherPods } },
    stay: true,
  },
  { title: 'stops at a floor', from: { version: '3.5.20' }, to: { version: '3.6.16' }, stay: true },
  { title: 'stops at a later floor', from: { version: '3.6.5', ...onDisks }, to: { version: '3.7.3' }, stay: true },
  {
    title: 'makes pods again and stops at each floor',
    from: { version: '3.5.20', ...onDisks },
    to: { version: '3.7.3', pod: { ...onDisks.pod, ...otherPods } },
    stay: true,
  },
  {
    title: 'replaces pods and stops at a floor',
    from: { version: '3.5.20' },
    to: { version: '3.6.16', pod: otherPods },
    stay: false,
  },
  { title: 'goes back by two minors', from: { version: '3.7.3', ...onDisks }, to: { version: '3.5.35' }, stay: true },
];

const idsIn = ({ members }: SimulatedUpgrade): readonly bigint[] => members.entries.map(({ id }) => id);

describe.each(tales)('an operator that $title', { timeout: 120_000 }, ({ from, to, stay }) => {
  it('comes to an end wherever it is killed, and nothing is lost', async () => {
    const founded = (): Promise<SimulatedUpgrade> => SimulatedUpgrade.of({ size: 3, ...from });
    const [untroubled, mortal] = [await founded(), await founded()];
    const before = idsIn(untroubled);
    const moments = await untroubled.changeAndRemember(to);
    expect(untroubled.deeds).toBeGreaterThan(5);
    expect(moments.length).toBeGreaterThan(untroubled.deeds);
    await mortal.change(to, { isShort: true });
    for (const { life } of moments) await life.goOn();
    const lives = [{ title: 'not killed', life: untroubled }, { title: 'killed after each', life: mortal }, ...moments];
    for (const { title, life } of lives) {
      expect(life.members.violations, title).toEqual([]);
      expect(
        idsIn(life).filter((id) => before.includes(id)),
        title,
      ).toHaveLength(stay ? 3 : 0);
    }
  });
});

describe('Events about versions of members', () => {
  it('name every hop of every member once, when the member runs it, and call the way back a downgrade', async () => {
    const life = await SimulatedUpgrade.of({ size: 3, version: '3.6.16', ...onDisks });
    const names = life.members.entries.map(({ name }) => name);
    await life.change({ version: '3.7.3' });
    await life.change({ version: '3.6.16' });
    const wanted = names.flatMap((name) => [
      `Member ${name} upgraded from 3.6.16 to 3.7.3`,
      `Member ${name} downgraded from 3.7.3 to 3.6.16`,
    ]);
    expect(life.told.toSorted()).toEqual(wanted.toSorted());
    expect(life.members.violations).toEqual([]);
  });

  it('name the hops between, also of a single member', async () => {
    const life = await SimulatedUpgrade.of({ size: 1, version: '3.4.31', ...onDisks });
    await life.change({ version: '3.6.16' });
    expect(life.told.map((message) => message.replace(/^Member \S+ /, ''))).toEqual([
      'upgraded from 3.4.31 to 3.5.35',
      'upgraded from 3.5.35 to 3.6.16',
    ]);
  });
});
