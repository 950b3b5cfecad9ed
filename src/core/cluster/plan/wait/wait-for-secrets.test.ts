import { describe, expect, it } from 'vitest';
import {
  aWorld,
  type Change,
  outOfContact,
  untouched,
  wanting,
  withoutMemberPod,
} from '../../../../../test/support/worlds.ts';
import { statusOf } from '../../status/cluster-status.ts';
import { planCluster } from '../plan-cluster.ts';

const problem = 'Secret db-peer: peer.key is missing: add it';
const invalid: Change = (world) => ({ ...world, secretProblems: [problem] });
const waits = { is: 'wait', reason: 'InvalidSecret', message: problem };

describe('an invalid Secret', () => {
  it('blocks the creation of a cluster, and nothing is recorded', () => {
    expect(planCluster(aWorld(untouched(), invalid))).toEqual(waits);
  });

  it('is reported as the cause if no member answers', () => {
    expect(planCluster(aWorld(outOfContact(), invalid))).toEqual(waits);
  });

  it('is reported for a running cluster, which stays available', () => {
    const world = aWorld(invalid);
    const verdict = planCluster(world);
    expect(verdict).toEqual(waits);
    expect(statusOf(world, verdict, undefined).conditions).toMatchObject([
      { type: 'Available', status: 'True' },
      { type: 'Progressing', status: 'False', reason: 'InvalidSecret' },
      { type: 'Degraded', status: 'True', reason: 'InvalidSecret', message: problem },
    ]);
  });

  it('blocks new members and the recreation of pods', () => {
    expect(planCluster(aWorld(wanting(5), invalid))).toEqual(waits);
    const drifted: Change = (world) => ({
      ...world,
      memberPods: world.memberPods.map((memberPod) => ({ ...memberPod, drift: 'pod', volume: 'own' })),
    });
    expect(planCluster(aWorld(drifted))).toMatchObject({ is: 'act' });
    expect(planCluster(aWorld(drifted, invalid))).toEqual(waits);
  });

  it('does not block the replacement of a member that can start without TLS', () => {
    const plain: Change = (world) => ({ ...world, startsWithoutSecrets: true });
    expect(planCluster(aWorld(wanting(4), invalid, plain))).toMatchObject({
      is: 'act',
      steps: [{ kind: 'add-member' }],
    });
    expect(planCluster(aWorld(invalid, plain))).toEqual(waits);
  });

  it('does not block the removal of a dead member, nor scaling down', () => {
    expect(planCluster(aWorld(withoutMemberPod('db-1'), invalid))).toMatchObject({ is: 'act', reason: 'DeadMember' });
    expect(planCluster(aWorld(wanting(1), invalid))).toMatchObject({ is: 'act', reason: 'ScalingDown' });
  });
});
