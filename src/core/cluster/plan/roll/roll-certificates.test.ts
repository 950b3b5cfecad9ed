import { describe, expect, it } from 'vitest';
import {
  aMemberPod,
  aWorld,
  type Change,
  durable,
  nameOf,
  outOfContact,
  untouched,
  withMemberPod,
} from '../../../../../test/support/worlds.ts';
import type { Certificates } from '../../model/cluster.ts';
import { planCluster } from '../plan-cluster.ts';

const calm: Certificates = { due: 'nothing', next: undefined, caHash: 'both', isServedByAll: false };
const keeping =
  (certificates: Partial<Certificates>): Change =>
  (world) => ({ ...world, certificates: { ...calm, ...certificates } });
const trusting =
  (caHash: string): Change =>
  (world) => ({ ...world, memberPods: world.memberPods.map((memberPod) => ({ ...memberPod, caHash })) });
const stages = (stage: string) => ({ is: 'act', steps: [{ kind: 'stage-certificates', stage }] });

describe('certificates', () => {
  it('are issued before the first member starts, and also without quorum', () => {
    const issues = { is: 'act', steps: [{ kind: 'issue-certificates', due: 'authorities' }] };
    expect(planCluster(aWorld(untouched(), keeping({ due: 'authorities' })))).toMatchObject(issues);
    expect(planCluster(aWorld(outOfContact(), keeping({ due: 'authorities' })))).toMatchObject(issues);
  });

  it('are stored before the first member starts', () => {
    expect(planCluster(aWorld(untouched(), keeping({ next: 'adopt' })))).toMatchObject(stages('adopt'));
  });

  it('are rolled out only after all members trust the new CA', () => {
    expect(planCluster(aWorld(trusting('both'), keeping({ next: 'show' })))).toMatchObject(stages('show'));
    const late = aWorld(trusting('both'), withMemberPod('db-1', { caHash: 'old', drift: 'pod', volume: 'own' }));
    expect(planCluster(keeping({ next: 'show' })(late))).toMatchObject({ reason: 'Rolling' });
  });

  it('do not wait for members without a pod', () => {
    const gone = aWorld(trusting('both'), (world) => {
      const without = aMemberPod(nameOf('db-9'));
      return { ...world, memberPods: [...world.memberPods, { ...without, phase: 'gone' }] };
    });
    expect(planCluster(keeping({ next: 'show' })(gone))).toMatchObject(stages('show'));
  });

  it('are followed by the removal of the old CA only after all members serve them', () => {
    const waits = { is: 'wait', reason: 'Certificates' };
    expect(planCluster(aWorld(trusting('both'), keeping({ next: 'forget' })))).toMatchObject(waits);
    const served = keeping({ next: 'forget', isServedByAll: true });
    expect(planCluster(aWorld(trusting('both'), served))).toMatchObject(stages('forget'));
    expect(planCluster(aWorld(trusting('old'), served))).toMatchObject(waits);
  });

  it('are deleted with their Secrets when no member uses them, after all other changes', () => {
    const left: Change = (world) => ({ ...world, obsoleteSecrets: ['db-member-tls'] });
    expect(planCluster(aWorld(left))).toMatchObject({
      is: 'act',
      steps: [{ kind: 'drop-secrets', names: ['db-member-tls'] }],
    });
    expect(planCluster(aWorld(left, withMemberPod('db-1', { drift: 'pod', volume: 'own' })))).toMatchObject({
      reason: 'Rolling',
    });
    expect(planCluster(aWorld(left, withMemberPod('db-1', { ready: false })))).toMatchObject({ is: 'wait' });
  });

  it('that have expired cause members with PVCs to be recreated, so that they trust the new CA', () => {
    const expired = keeping({ next: 'show', haveExpired: true });
    const again = { is: 'act', reason: 'Certificates', steps: [{ kind: 'stop-member-pod', name: 'db-0' }] };
    const world = aWorld(durable(), outOfContact(), trusting('old'), expired);
    expect(planCluster(world)).toMatchObject(again);
    expect(planCluster(withMemberPod('db-1', { phase: 'starting' })(world))).toMatchObject({ is: 'wait' });
    expect(planCluster(aWorld(durable(), trusting('both'), expired))).toMatchObject(stages('show'));
    expect(planCluster(aWorld(durable(), outOfContact(), trusting('old'), keeping({ next: 'show' })))).toMatchObject({
      ...{ is: 'wait', reason: 'NoContact' },
    });
  });

  it('that have expired need user action if members have no PVCs', () => {
    const world = aWorld(outOfContact(), trusting('old'), keeping({ next: 'show', haveExpired: true }));
    expect(planCluster(world)).toMatchObject({ is: 'wait', reason: 'InvalidSecret', needsUserAction: true });
  });

  it('that are up to date need no step', () => {
    expect(planCluster(aWorld(trusting('both'), keeping({})))).toEqual({ is: 'settled' });
  });
});
