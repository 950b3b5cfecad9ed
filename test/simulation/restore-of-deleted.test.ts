import { describe, expect, it } from 'vitest';
import { made, replaced, replacedByName } from './restore-tales.ts';
import type { Death, SimulatedObjects } from './simulated-objects.ts';
import { SimulatedRestore, type Tale } from './simulated-restore.ts';

const replacedWithoutVolumes: Tale = {
  ...replaced,
  objects: {
    etcdclusters: (replaced.objects['etcdclusters'] ?? []).map((cluster) => ({
      ...cluster,
      spec: { size: 3, version: '3.6.16' },
    })),
    pods: replaced.objects['pods'] ?? [],
  },
};

interface Shown {
  readonly phase?: string;
  readonly stage?: string;
  readonly reason?: string;
}

/** When somebody deletes the cluster: so many passes after the restore has come to that phase. */
interface Deletion {
  readonly phase: string;
  readonly after: number;
  /** What the cluster owned does not go at once. */
  readonly isSlow?: boolean;
}

async function lifeWith(tale: Tale, { phase, after, isSlow = false }: Deletion, death?: Death) {
  let passes = 0;
  const mishap = (objects: SimulatedObjects): void => {
    const [restore] = objects.all('etcdrestores');
    const { phase: shown, stage = shown }: Shown = restore?.status ?? {};
    if (stage !== phase || passes++ !== after) return;
    objects.collects = !isSlow;
    objects.vanish('etcdclusters', 'db');
  };
  const { objects, restore, ...life } = await ended(new SimulatedRestore({ ...tale, mishap }, death));
  const namesOf = (plural: string): readonly string[] => objects.all(plural).map(({ metadata: { name } }) => name);
  return {
    ...life,
    wasDeleted: passes > after,
    shown: (restore.status ?? {}) as Shown,
    finalizers: restore.metadata.finalizers ?? [],
    pods: namesOf('pods').filter((name) => !name.includes('-look-')),
    claims: namesOf('persistentvolumeclaims'),
  };
}

async function ended(life: SimulatedRestore) {
  await life.run();
  return { objects: life.objects, restore: life.restore, writes: life.objects.writes };
}

/** Every life in which the cluster is deleted at some pass of that phase. */
async function livesWith(tale: Tale, phase: string) {
  const lives = [];
  for (let after = 0; ; after++) {
    const life = await lifeWith(tale, { phase, after });
    if (!life.wasDeleted) return lives;
    lives.push(life);
  }
}

const deleted = expect.stringContaining('EtcdCluster "db" was deleted while it was being restored') as string;

describe.each([
  ['with volumes', replaced],
  ['without volumes', replacedWithoutVolumes],
])('a cluster %s that is deleted while a restore takes its place', (_title, tale) => {
  it('ends the restore, which says so and leaves nothing of its own', async () => {
    const lives = await livesWith(tale, 'Switching');
    expect(lives.length).toBeGreaterThan(4);
    for (const { shown, finalizers, pods, claims } of lives) {
      expect(shown).toMatchObject({ phase: 'Failed', reason: deleted });
      expect([finalizers, pods]).toEqual([[], []]);
      expect(claims).not.toContain('db-seed');
      expect(shown.reason?.includes('volumes of the old members stay')).toBe(claims.length > 0);
    }
  });

  it('leaves as little wherever the operator is killed', async () => {
    const untroubled = await lifeWith(tale, { phase: 'Switching', after: 2 });
    for (let write = 0; write < untroubled.writes; write++)
      for (const when of ['before', 'after'] as const) {
        const life = await lifeWith(tale, { phase: 'Switching', after: 2 }, { write, when });
        expect(life.shown, `killed ${when} write ${write}`).toMatchObject({ phase: 'Failed', reason: deleted });
        expect([life.finalizers, life.pods], `killed ${when} write ${write}`).toEqual([[], []]);
        expect(life.claims, `killed ${when} write ${write}`).not.toContain('db-seed');
      }
  });
});

it('a cluster whose volumes outlive it, and that is deleted while it is replaced, is not made again in its place', async () => {
  const lives = await livesWith(replacedByName, 'Switching');
  expect(lives.length).toBeGreaterThan(4);
  for (const { shown, pods, claims } of lives) {
    expect(shown).toMatchObject({ phase: 'Failed', reason: deleted });
    expect(pods).toEqual([]);
    expect(claims).toEqual(expect.arrayContaining(['db-0', 'db-1', 'db-3']));
  }
});

it('a cluster that a restore is to make is made, whoever deletes it before it remembers what was restored', async () => {
  const lives = await livesWith(made, 'Switching');
  expect(lives.length).toBeGreaterThan(4);
  for (const { shown, pods, claims } of lives) {
    expect(shown).toMatchObject({ phase: 'Completed' });
    expect([pods, claims]).toEqual([['db-0'], ['db-0']]);
  }
});

it('a cluster that a restore is to make is made again on a volume of its own, not on one that goes with the first', async () => {
  const { clusterTemplate, ...spec } = made.restore['spec'] as { clusterTemplate: { spec: object } };
  const withDelete = {
    ...clusterTemplate,
    spec: { ...clusterTemplate.spec, storage: { volumeClaimPolicy: 'Delete' } },
  };
  const tale = { ...made, restore: { ...made.restore, spec: { ...spec, clusterTemplate: withDelete } } };
  for (let after = 0; after < 5; after++) {
    let passes = 0;
    const mishap = (objects: SimulatedObjects): void => {
      const { phase, stage = phase }: Shown = objects.all('etcdrestores')[0]?.status ?? {};
      if (stage !== 'Switching') return;
      objects.linger = true;
      if (passes === after) objects.vanish('etcdclusters', 'db');
      if (passes++ === after + 2) objects.letGo();
    };
    const { restore } = await ended(new SimulatedRestore({ ...tale, mishap }));
    expect(restore.status).toMatchObject({ phase: 'Completed' });
  }
});

it("a volume that has become a cluster's stays as volumes of that API do, when the cluster is deleted while it grows", async () => {
  const life = await lifeWith(made, { phase: 'Growing', after: 0, isSlow: true });
  expect(life.shown).toMatchObject({ phase: 'Failed', reason: deleted });
  expect(life.claims).toEqual(['db-0']);
});

it('old data stays with a complete restore if the cluster is deleted before it can keep it', async () => {
  const life = await lifeWith(replaced, { phase: 'Complete', after: 0 });
  expect(life.shown).toMatchObject({ phase: 'Complete' });
  expect(life.claims).toEqual(['old-1', 'old-2', 'old-3']);
});
