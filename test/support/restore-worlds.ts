import type { Agent } from '../../src/core/backup/agent.ts';
import type { RestoredCluster, RestoreMemory, RestorePhase, RestoreWorld, Seed } from '../../src/core/restore/model.ts';
import { planRestore } from '../../src/core/restore/plan-restore.ts';

export const now = 10_000_000;
export const old = { name: 'db-old', uid: 'o' };
const running: RestoredCluster = {
  ...{
    isThere: true,
    heldBy: undefined,
    holdAskedBy: undefined,
    clusterId: 'aaa',
    version: '3.5.9',
    isSettled: true,
    seed: undefined,
  },
  ...{ oldPods: [old], oldClaims: [old] },
};
export const seed: Seed = { name: 'db-new', uid: 's', state: 'ready', why: '', isHandedOver: false, clusterId: 'bbb' };

export const proof = (ok: boolean): Agent => ({
  ...{ name: 'p', uid: 'p', slot: 0, createdAt: now },
  state: { is: 'ended', report: { ok, message: 'bytes were lost', facts: {} } },
});

export interface Over extends Omit<Partial<RestoreWorld>, 'memory' | 'cluster'> {
  readonly memory?: Partial<RestoreMemory>;
  readonly cluster?: Partial<RestoredCluster> | string;
}

export const world = (phase: RestorePhase, { memory, cluster, ...rest }: Over = {}): RestoreWorld => ({
  now,
  intent: {
    ...{ name: 'r', namespace: 'n', uid: 'u', createdAt: now, cluster: 'db', serviceAccountName: undefined },
    into: 'existing',
    revisionBump: undefined,
    credentials: 'own',
    store: { kind: 's3', path: 'b/k', field: 'spec.s3.path' },
  },
  memory: { phase, since: now, seed: 'db-new', clusterId: phase === 'seeding' ? undefined : 'bbb', ...memory },
  ...{
    proof: undefined,
    retainedClaims: [],
    isPinned: true,
    spareName: 'db-new',
    obstacle: undefined,
    isClusterGone: false,
  },
  nameConflict: undefined,
  cluster: typeof cluster === 'string' ? cluster : { ...running, ...cluster },
  ...rest,
});

export const stepIn = (of: RestoreWorld): string | undefined => {
  const verdict = planRestore(of);
  return verdict.is === 'act' ? verdict.step.kind : undefined;
};
