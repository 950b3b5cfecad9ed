import { describe, expect, it } from 'vitest';
import { createdByRestore, replaced, replacedOrdinal } from './restore-scenarios.ts';
import type { KillPoint, SimulatedObjects } from './simulated-objects.ts';
import { type Scenario, SimulatedRestore } from './simulated-restore.ts';

const replacedWithoutVolumes: Scenario = {
  ...replaced,
  objects: {
    etcdclusters: (replaced.objects['etcdclusters'] ?? []).map((cluster) => ({
      ...cluster,
      spec: { size: 3, version: '3.6.16' },
    })),
    pods: replaced.objects['pods'] ?? [],
  },
};

interface RestoreStatus {
  readonly phase?: string;
  readonly stage?: string;
  readonly reason?: string;
}

/** When a user deletes the cluster: the number of passes after the restore has reached `phase`. */
interface Deletion {
  readonly phase: string;
  readonly after: number;
  /** True if the garbage collector does not run yet. */
  readonly isSlow?: boolean;
}

async function lifeWith(scenario: Scenario, { phase, after, isSlow = false }: Deletion, killPoint?: KillPoint) {
  let passes = 0;
  const mishap = (objects: SimulatedObjects): void => {
    const [restore] = objects.all('etcdrestores');
    const { phase: shown, stage = shown }: RestoreStatus = restore?.status ?? {};
    if (stage !== phase || passes++ !== after) return;
    objects.collectsGarbage = !isSlow;
    objects.deleteObject('etcdclusters', 'db');
  };
  const { objects, restore, ...life } = await ended(new SimulatedRestore({ ...scenario, mishap }, killPoint));
  const namesOf = (plural: string): readonly string[] => objects.all(plural).map(({ metadata: { name } }) => name);
  return {
    ...life,
    wasDeleted: passes > after,
    shown: (restore.status ?? {}) as RestoreStatus,
    finalizers: restore.metadata.finalizers ?? [],
    pods: namesOf('pods').filter((name) => !name.includes('-inspect-')),
    claims: namesOf('persistentvolumeclaims'),
  };
}

async function ended(life: SimulatedRestore) {
  await life.run();
  return { objects: life.objects, restore: life.restore, writes: life.objects.writes };
}

/** Simulates a deletion of the cluster at each pass of the phase. */
async function livesWith(scenario: Scenario, phase: string) {
  const lives = [];
  for (let after = 0; ; after++) {
    const life = await lifeWith(scenario, { phase, after });
    if (!life.wasDeleted) return lives;
    lives.push(life);
  }
}

const deleted = expect.stringContaining('EtcdCluster "db" was deleted while it was being restored') as string;

describe.each([
  ['with volumes', replaced],
  ['without volumes', replacedWithoutVolumes],
])('a cluster %s that is deleted while a restore replaces it', (_title, scenario) => {
  it('fails the restore, which reports the deletion and leaves no seed', async () => {
    const lives = await livesWith(scenario, 'Switching');
    expect(lives.length).toBeGreaterThan(4);
    for (const { shown, finalizers, pods, claims } of lives) {
      expect(shown).toMatchObject({ phase: 'Failed', reason: deleted });
      expect([finalizers, pods]).toEqual([[], []]);
      expect(claims).not.toContain('db-seed');
      expect(shown.reason?.includes('volumes of the old members stay')).toBe(claims.length > 0);
    }
  });

  it('leaves no seed wherever the operator is killed', async () => {
    const undisturbed = await lifeWith(scenario, { phase: 'Switching', after: 2 });
    for (let write = 0; write < undisturbed.writes; write++)
      for (const when of ['before', 'after'] as const) {
        const life = await lifeWith(scenario, { phase: 'Switching', after: 2 }, { write, when });
        expect(life.shown, `killed ${when} write ${write}`).toMatchObject({ phase: 'Failed', reason: deleted });
        expect([life.finalizers, life.pods], `killed ${when} write ${write}`).toEqual([[], []]);
        expect(life.claims, `killed ${when} write ${write}`).not.toContain('db-seed');
      }
  });
});

it('a cluster with retained volumes that is deleted while a restore replaces it is not created again', async () => {
  const lives = await livesWith(replacedOrdinal, 'Switching');
  expect(lives.length).toBeGreaterThan(4);
  for (const { shown, pods, claims } of lives) {
    expect(shown).toMatchObject({ phase: 'Failed', reason: deleted });
    expect(pods).toEqual([]);
    expect(claims).toEqual(expect.arrayContaining(['db-0', 'db-1', 'db-3']));
  }
});

it('a restore creates its cluster again if the cluster is deleted before its status has the restored cluster ID', async () => {
  const lives = await livesWith(createdByRestore, 'Switching');
  expect(lives.length).toBeGreaterThan(4);
  for (const { shown, pods, claims } of lives) {
    expect(shown).toMatchObject({ phase: 'Completed' });
    expect([pods, claims]).toEqual([['db-0'], ['db-0']]);
  }
});

it('a restore that creates its cluster again uses a new PVC, not the terminating one of the deleted cluster', async () => {
  const { clusterTemplate, ...spec } = createdByRestore.restore['spec'] as { clusterTemplate: { spec: object } };
  const withDelete = {
    ...clusterTemplate,
    spec: { ...clusterTemplate.spec, storage: { volumeClaimPolicy: 'Delete' } },
  };
  const scenario = {
    ...createdByRestore,
    restore: { ...createdByRestore.restore, spec: { ...spec, clusterTemplate: withDelete } },
  };
  for (let after = 0; after < 5; after++) {
    let passes = 0;
    const mishap = (objects: SimulatedObjects): void => {
      const { phase, stage = phase }: RestoreStatus = objects.all('etcdrestores')[0]?.status ?? {};
      if (stage !== 'Switching') return;
      objects.keepsTerminatingPvcs = true;
      if (passes === after) objects.deleteObject('etcdclusters', 'db');
      if (passes++ === after + 2) objects.removeTerminating();
    };
    const { restore } = await ended(new SimulatedRestore({ ...scenario, mishap }));
    expect(restore.status).toMatchObject({ phase: 'Completed' });
  }
});

it('an adopted PVC is retained if the cluster (improbable API) is deleted while it grows', async () => {
  const life = await lifeWith(createdByRestore, { phase: 'Growing', after: 0, isSlow: true });
  expect(life.shown).toMatchObject({ phase: 'Failed', reason: deleted });
  expect(life.claims).toEqual(['db-0']);
});

it('PVCs of old members stay after a complete restore if the cluster is deleted before it adopts them', async () => {
  const life = await lifeWith(replaced, { phase: 'Complete', after: 0 });
  expect(life.shown).toMatchObject({ phase: 'Complete' });
  expect(life.claims).toEqual(['old-1', 'old-2', 'old-3']);
});
