import { describe, expect, it } from 'vitest';
import { aWorld, type Change, durable, withMemberPod } from '../../../../../test/support/worlds.ts';
import type { ClientMigration } from '../../model/cluster.ts';
import { statusOf } from '../../status/cluster-status.ts';
import { planCluster } from '../plan-cluster.ts';

const migrating =
  (clientMigration: ClientMigration, isMigrationAnnounced: boolean): Change =>
  (world) => ({ ...world, clientMigration, isMigrationAnnounced });
const outdated = withMemberPod('db-1', { drift: 'pod' });

describe('a change of client TLS', () => {
  it('is reported in the status before the first member is changed', () => {
    const world = aWorld(durable(), outdated, migrating('to-encryption', false));
    const verdict = planCluster(world);
    expect(verdict).toMatchObject({ is: 'wait', reason: 'ClientsMoving' });
    expect(statusOf(world, verdict, undefined).conditions).toContainEqual({
      ...{ type: 'ClientsMoving', status: 'True', reason: 'ClientsMoving' },
      message: expect.stringContaining('clients must use https with a client certificate'),
    });
  });

  it('is reported while members are recreated', () => {
    const world = aWorld(durable(), outdated, migrating('to-plain', true));
    const verdict = planCluster(world);
    expect(verdict).toMatchObject({ is: 'act', reason: 'Rolling' });
    expect(statusOf(world, verdict, undefined).conditions.map(({ type }) => type)).toContain('ClientsMoving');
  });

  it('is not reported if client TLS does not change', () => {
    const world = aWorld(durable(), outdated);
    expect(planCluster(world)).toMatchObject({ is: 'act', reason: 'Rolling' });
    expect(statusOf(world, { is: 'settled' }, undefined).conditions).toHaveLength(3);
  });
});
