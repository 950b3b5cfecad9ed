import { describe, expect, it } from 'vitest';
import {
  aWorld,
  type Change,
  outOfContact,
  untouched,
  wanting,
  withoutCarrier,
} from '../../../../test/support/worlds.ts';
import { statusOf } from '../../status/cluster-status.ts';
import { planCluster } from './plan-cluster.ts';

const says = 'Secret db-peer: peer.key is missing: add it';
const unfit: Change = (world) => ({ ...world, secretProblems: [says] });
const waits = { is: 'wait', reason: 'SecretUnfit', message: says };

describe('a Secret that cannot be used', () => {
  it('keeps a cluster from being begun, and nothing is remembered of it', () => {
    expect(planCluster(aWorld(untouched(), unfit))).toEqual(waits);
  });

  it('is why nobody answers, where nobody does', () => {
    expect(planCluster(aWorld(outOfContact(), unfit))).toEqual(waits);
  });

  it('is told of a cluster that runs, which stays available', () => {
    const world = aWorld(unfit);
    const verdict = planCluster(world);
    expect(verdict).toEqual(waits);
    expect(statusOf(world, verdict, undefined).conditions).toMatchObject([
      { type: 'Available', status: 'True' },
      { type: 'Progressing', status: 'False', reason: 'SecretUnfit' },
      { type: 'Degraded', status: 'True', reason: 'SecretUnfit', message: says },
    ]);
  });

  it('lets nobody be added, and nobody be made again', () => {
    expect(planCluster(aWorld(wanting(5), unfit))).toEqual(waits);
    const drifted: Change = (world) => ({
      ...world,
      carriers: world.carriers.map((carrier) => ({ ...carrier, drift: 'pod', disk: 'own' })),
    });
    expect(planCluster(aWorld(drifted))).toMatchObject({ is: 'act' });
    expect(planCluster(aWorld(drifted, unfit))).toEqual(waits);
  });

  it('does not keep a member from being replaced that can start without it as yet', () => {
    const plain: Change = (world) => ({ ...world, startsWithoutSecrets: true });
    expect(planCluster(aWorld(wanting(4), unfit, plain))).toMatchObject({
      is: 'act',
      steps: [{ kind: 'add-member' }],
    });
    expect(planCluster(aWorld(unfit, plain))).toEqual(waits);
  });

  it('does not keep a dead member from being removed, nor a cluster from shrinking', () => {
    expect(planCluster(aWorld(withoutCarrier('db-1'), unfit))).toMatchObject({ is: 'act', reason: 'DeadMember' });
    expect(planCluster(aWorld(wanting(1), unfit))).toMatchObject({ is: 'act', reason: 'ScalingDown' });
  });
});
