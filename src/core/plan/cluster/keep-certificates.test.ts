import { describe, expect, it } from 'vitest';
import {
  aCarrier,
  aWorld,
  type Change,
  durable,
  nameOf,
  outOfContact,
  untouched,
  withCarrier,
} from '../../../../test/support/worlds.ts';
import type { Certificates } from '../../model/cluster.ts';
import { planCluster } from './plan-cluster.ts';

const calm: Certificates = { due: 'nothing', next: undefined, believed: 'both', isShownByAll: false };
const keeping =
  (certificates: Partial<Certificates>): Change =>
  (world) => ({ ...world, certificates: { ...calm, ...certificates } });
const believing =
  (mark: string): Change =>
  (world) => ({ ...world, carriers: world.carriers.map((carrier) => ({ ...carrier, believes: mark })) });
const stages = (stage: string) => ({ is: 'act', steps: [{ kind: 'stage-certificates', stage }] });

describe('certificates', () => {
  it('are issued before anybody is started, and although nobody answers', () => {
    const issues = { is: 'act', steps: [{ kind: 'issue-certificates', due: 'authorities' }] };
    expect(planCluster(aWorld(untouched(), keeping({ due: 'authorities' })))).toMatchObject(issues);
    expect(planCluster(aWorld(outOfContact(), keeping({ due: 'authorities' })))).toMatchObject(issues);
  });

  it('are kept before anybody is started', () => {
    expect(planCluster(aWorld(untouched(), keeping({ next: 'adopt' })))).toMatchObject(stages('adopt'));
  });

  it('are shown only when everybody believes their authority', () => {
    expect(planCluster(aWorld(believing('both'), keeping({ next: 'show' })))).toMatchObject(stages('show'));
    const late = aWorld(believing('both'), withCarrier('db-1', { believes: 'old', drift: 'pod', disk: 'own' }));
    expect(planCluster(keeping({ next: 'show' })(late))).toMatchObject({ reason: 'Rolling' });
  });

  it('wait for nobody who has no pod', () => {
    const gone = aWorld(believing('both'), (world) => {
      const without = aCarrier(nameOf('db-9'));
      return { ...world, carriers: [...world.carriers, { ...without, phase: 'gone' }] };
    });
    expect(planCluster(keeping({ next: 'show' })(gone))).toMatchObject(stages('show'));
  });

  it('are followed by the end of the old authority only when everybody shows them', () => {
    const waits = { is: 'wait', reason: 'Certificates' };
    expect(planCluster(aWorld(believing('both'), keeping({ next: 'forget' })))).toMatchObject(waits);
    const shown = keeping({ next: 'forget', isShownByAll: true });
    expect(planCluster(aWorld(believing('both'), shown))).toMatchObject(stages('forget'));
    expect(planCluster(aWorld(believing('old'), shown))).toMatchObject(waits);
  });

  it('go with their Secrets when nobody has them, after all else', () => {
    const left: Change = (world) => ({ ...world, leftSecrets: ['db-member-tls'] });
    expect(planCluster(aWorld(left))).toMatchObject({
      is: 'act',
      steps: [{ kind: 'drop-secrets', names: ['db-member-tls'] }],
    });
    expect(planCluster(aWorld(left, withCarrier('db-1', { drift: 'pod', disk: 'own' })))).toMatchObject({
      reason: 'Rolling',
    });
    expect(planCluster(aWorld(left, withCarrier('db-1', { ready: false })))).toMatchObject({ is: 'wait' });
  });

  it('are waited for by nobody when the old ones have expired: members with disks are made again to believe them', () => {
    const expired = keeping({ next: 'show', haveExpired: true });
    const again = { is: 'act', reason: 'Certificates', steps: [{ kind: 'stop-carrier', name: 'db-0' }] };
    const world = aWorld(durable(), outOfContact(), believing('old'), expired);
    expect(planCluster(world)).toMatchObject(again);
    expect(planCluster(withCarrier('db-1', { phase: 'starting' })(world))).toMatchObject({ is: 'wait' });
    expect(planCluster(aWorld(durable(), believing('both'), expired))).toMatchObject(stages('show'));
    expect(planCluster(aWorld(durable(), outOfContact(), believing('old'), keeping({ next: 'show' })))).toMatchObject({
      ...{ is: 'wait', reason: 'NoContact' },
    });
  });

  it('are told to be lost on members whose data would go with their pods', () => {
    const world = aWorld(outOfContact(), believing('old'), keeping({ next: 'show', haveExpired: true }));
    expect(planCluster(world)).toMatchObject({ is: 'wait', reason: 'SecretUnfit', needsPerson: true });
  });

  it('settle', () => {
    expect(planCluster(aWorld(believing('both'), keeping({})))).toEqual({ is: 'settled' });
  });
});
