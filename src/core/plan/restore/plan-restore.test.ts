import { describe, expect, it } from 'vitest';
import type { Agent } from '../../model/agent.ts';
import type { RestoredCluster, RestoreMemory, RestorePhase, RestoreWorld, Seed } from '../../model/restore.ts';
import { planRestore } from './plan-restore.ts';

const now = 10_000_000;
const old = { name: 'db-old', uid: 'o' };
const running: RestoredCluster = {
  ...{
    heldBy: undefined,
    holdAskedBy: undefined,
    clusterId: 'aaa',
    version: '3.5.9',
    isSettled: true,
    seed: undefined,
  },
  ...{ oldPods: [old], oldClaims: [old] },
};
const seed: Seed = { name: 'db-new', uid: 's', state: 'ready', why: '', isHandedOver: false, clusterId: 'bbb' };

const proof = (ok: boolean): Agent => ({
  ...{ name: 'p', uid: 'p', slot: 0, createdAt: now },
  state: { is: 'ended', report: { ok, message: 'bytes were lost', facts: {} } },
});

interface Over extends Omit<Partial<RestoreWorld>, 'memory' | 'cluster'> {
  readonly memory?: Partial<RestoreMemory>;
  readonly cluster?: Partial<RestoredCluster> | string;
}

const world = (phase: RestorePhase, { memory, cluster, ...rest }: Over = {}): RestoreWorld => ({
  now,
  intent: {
    ...{ name: 'r', namespace: 'n', uid: 'u', createdAt: now, cluster: 'db', serviceAccountName: undefined },
    revisionBump: undefined,
    store: { kind: 's3', path: 'b/k', field: 'spec.s3.path' },
  },
  memory: { phase, since: now, seed: 'db-new', clusterId: phase === 'seeding' ? undefined : 'bbb', ...memory },
  ...{ proof: undefined, aside: [], isPinned: true, spareName: 'db-new', obstacle: undefined, isClusterGone: false },
  cluster: typeof cluster === 'string' ? cluster : { ...running, ...cluster },
  ...rest,
});

const stepIn = (of: RestoreWorld): string | undefined => {
  const verdict = planRestore(of);
  return verdict.is === 'act' ? verdict.step.kind : undefined;
};

describe('before anything of the cluster is touched', () => {
  it('the backup is read to its end', () => {
    expect(stepIn(world('proving'))).toBe('prove');
    expect(planRestore(world('proving', { proof: proof(true) }))).toMatchObject({
      ...{ is: 'enter', phase: 'seeding', seed: 'db-new' },
    });
  });

  it('a backup that is no good ends it', () => {
    expect(planRestore(world('proving', { proof: proof(false) }))).toEqual({
      ...{ is: 'enter', phase: 'failed' },
      message: 'the backup cannot be used, and EtcdCluster "db" was not touched: bytes were lost',
    });
    expect(planRestore(world('failed'))).toMatchObject({ is: 'act', step: { kind: 'unpin' } });
    expect(planRestore(world('failed', { isPinned: false }))).toEqual({ is: 'over' });
  });

  it('what is missing is waited for', () => {
    expect(planRestore(world('proving', { obstacle: 'no Secret' }))).toMatchObject({
      is: 'wait',
      message: 'no Secret',
    });
    expect(planRestore(world('proving', { cluster: 'no cluster' }))).toMatchObject({ is: 'wait', isBlocked: true });
  });

  it('revisions that are to leap in an etcd that cannot end it', () => {
    const { intent } = world('proving');
    const leaping = { intent: { ...intent, revisionBump: 1 } };
    expect(planRestore(world('proving', leaping))).toMatchObject({ is: 'enter', phase: 'failed' });
    expect(stepIn(world('proving', { ...leaping, cluster: { version: '3.5.10' } }))).toBe('prove');
    expect(stepIn(world('proving', { ...leaping, cluster: { version: '3.6.0' } }))).toBe('prove');
  });

  it('a member starts from it, and must serve', () => {
    expect(stepIn(world('seeding'))).toBe('start-seed');
    const starting = { ...seed, state: 'starting' as const, clusterId: undefined };
    expect(planRestore(world('seeding', { cluster: { seed: starting } }))).toMatchObject({ is: 'wait' });
    const silent = { ...seed, clusterId: undefined };
    expect(planRestore(world('seeding', { cluster: { seed: silent } }))).toMatchObject({ is: 'wait' });
    expect(planRestore(world('seeding', { cluster: { seed } }))).toMatchObject({
      phase: 'switching',
      clusterId: 'bbb',
    });
  });

  it('a member that cannot start is given up and removed, and the cluster stays', () => {
    const broken = { ...seed, state: 'broken' as const, why: 'no such image', clusterId: undefined };
    const at = (since: number) => planRestore(world('seeding', { cluster: { seed: broken }, memory: { since } }));
    expect(at(now - 200_000)).toMatchObject({ is: 'wait' });
    expect(at(now - 400_000)).toMatchObject({ is: 'enter', phase: 'failed' });
    expect(stepIn(world('failed', { cluster: { seed: broken } }))).toBe('discard-seed');
  });
});

describe('when the seed serves', () => {
  const held = { holdAskedBy: 'u', heldBy: 'u', seed };
  const none = { oldPods: [], oldClaims: [] };

  it('everything happens in its order, and from wherever it was left', () => {
    const switching = (cluster: Partial<RestoredCluster>) => stepIn(world('switching', { cluster }));
    expect(stepIn(world('switching', { cluster: { seed }, isPinned: false }))).toBe('pin');
    expect(switching({ seed })).toBe('hold-cluster');
    expect(switching(held)).toBe('stop-pods');
    const going = { ...held, oldPods: [{ ...old, isGoing: true }] };
    expect(planRestore(world('switching', { cluster: going }))).toMatchObject({ is: 'wait' });
    expect(switching({ ...held, oldPods: [] })).toBe('set-aside');
    expect(switching({ ...held, ...none })).toBe('hand-over');
    const handedOver = { ...seed, isHandedOver: true };
    expect(switching({ ...held, ...none, seed: handedOver })).toBe('rewrite-memory');
    const after = { ...held, ...none, seed: handedOver, clusterId: 'bbb' };
    expect(planRestore(world('switching', { cluster: after }))).toMatchObject({ is: 'enter', phase: 'growing' });
    expect(stepIn(world('growing', { cluster: after }))).toBe('release-cluster');
  });

  it('nothing is stopped before the operator stands aside', () => {
    const asked = { seed, holdAskedBy: 'u' };
    expect(planRestore(world('switching', { cluster: asked }))).toMatchObject({ is: 'wait' });
    expect(planRestore(world('switching', { cluster: { ...asked, heldBy: 'another' } }))).toMatchObject({ is: 'wait' });
  });

  it('another restore of the same cluster comes first', () => {
    const others = { seed, holdAskedBy: 'another', heldBy: 'another' };
    expect(planRestore(world('switching', { cluster: others }))).toMatchObject({ is: 'wait' });
  });

  it('a cluster that is deleted meanwhile ends it, and lets the restore go', () => {
    const gone = { cluster: 'it is gone', isClusterGone: true };
    for (const phase of ['switching', 'growing'] as const)
      expect(planRestore(world(phase, gone))).toMatchObject({ is: 'enter', phase: 'failed' });
    expect(stepIn(world('failed', gone))).toBe('unpin');
    expect(planRestore(world('seeding', gone))).toMatchObject({ is: 'wait', isBlocked: true });
  });

  it('a seed that was lost meanwhile is made again', () => {
    expect(stepIn(world('switching', { cluster: { ...held, ...none, seed: undefined } }))).toBe('start-seed');
  });

  it('it is over when the cluster has its full size, and only then the old data goes', () => {
    const growing = { ...none, clusterId: 'bbb', seed: { ...seed, isHandedOver: true } };
    expect(planRestore(world('growing', { cluster: { ...growing, isSettled: false } }))).toMatchObject({ is: 'wait' });
    expect(planRestore(world('growing', { cluster: growing }))).toMatchObject({ is: 'enter', phase: 'complete' });
    expect(stepIn(world('complete', { aside: [old] }))).toBe('discard-old-data');
    expect(stepIn(world('complete'))).toBe('unpin');
    expect(planRestore(world('complete', { isPinned: false }))).toEqual({ is: 'over' });
  });
});
