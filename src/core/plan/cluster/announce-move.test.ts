import { describe, expect, it } from 'vitest';
import { aWorld, type Change, durable, withCarrier } from '../../../../test/support/worlds.ts';
import type { ClientMove } from '../../model/cluster.ts';
import { statusOf } from '../../status/cluster-status.ts';
import { planCluster } from './plan-cluster.ts';

const moving =
  (clientMove: ClientMove, isMoveTold: boolean): Change =>
  (world) => ({ ...world, clientMove, isMoveTold });
const toBeMadeAgain = withCarrier('db-1', { drift: 'pod' });

describe('clients that are served in another way', () => {
  it('are told before the first member is touched', () => {
    const world = aWorld(durable(), toBeMadeAgain, moving('to-encryption', false));
    const verdict = planCluster(world);
    expect(verdict).toMatchObject({ is: 'wait', reason: 'ClientsMoving' });
    expect(statusOf(world, verdict, undefined).conditions).toContainEqual({
      ...{ type: 'ClientsMoving', status: 'True', reason: 'ClientsMoving' },
      message: expect.stringContaining('each has to use https and show a certificate'),
    });
  });

  it('are told as long as it lasts, while members are made again', () => {
    const world = aWorld(durable(), toBeMadeAgain, moving('to-plain', true));
    const verdict = planCluster(world);
    expect(verdict).toMatchObject({ is: 'act', reason: 'Rolling' });
    expect(statusOf(world, verdict, undefined).conditions.map(({ type }) => type)).toContain('ClientsMoving');
  });

  it('are told nothing when nothing changes for them', () => {
    const world = aWorld(durable(), toBeMadeAgain);
    expect(planCluster(world)).toMatchObject({ is: 'act', reason: 'Rolling' });
    expect(statusOf(world, { is: 'settled' }, undefined).conditions).toHaveLength(3);
  });
});
