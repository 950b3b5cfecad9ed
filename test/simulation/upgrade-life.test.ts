import { describe, expect, it } from 'vitest';
import { type Deaths, SimulatedUpgrade } from './simulated-upgrade.ts';

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
  { title: 'goes back by two minors', from: { version: '3.7.3', ...onDisks }, to: { version: '3.5.35' }, stay: true },
];

/** The whole of a tale, and what was wrong with it. */
async function tell({ from, to, stay }: Tale, death?: Deaths): Promise<{ deeds: number; wrong: readonly string[] }> {
  const life = await SimulatedUpgrade.of({ size: 3, ...from });
  const before = new Set(life.members.entries.map(({ id }) => id));
  await life.change(to, death);
  const left = life.members.entries.filter(({ id }) => before.has(id)).length;
  const wrong = left === (stay ? 3 : 0) ? [] : [`${left} of three are those who they were`];
  return { deeds: life.deeds, wrong: [...life.members.violations, ...wrong] };
}

describe.each(tales)('an operator that $title', { timeout: 120_000 }, (tale) => {
  it('comes to an end wherever it is killed, and nothing is lost', async () => {
    const { deeds, wrong } = await tell(tale);
    expect(wrong).toEqual([]);
    expect(deeds).toBeGreaterThan(5);
    expect((await tell(tale, 'each')).wrong).toEqual([]);
    for (let write = 0; write < deeds; write++)
      for (const when of ['before', 'after'] as const) {
        const killed = await tell(tale, { write, when });
        expect(killed.wrong, `${when} ${write}`).toEqual([]);
      }
  });
});
