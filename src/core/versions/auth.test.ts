import { describe, expect, it } from 'vitest';
import { aWorld, type Change, withIntent, withMember, withMemberPod } from '../../../test/support/worlds.ts';
import { planCluster } from '../cluster/plan/plan-cluster.ts';
import { statusOf } from '../cluster/status/cluster-status.ts';
import { isBlockedByAuth } from './auth.ts';

const at =
  (version: string): Change =>
  (world) => {
    const image = `etcd:v${version}`;
    const changes = world.memberPods.flatMap(({ name }) => [
      withMember(name, { version }),
      withMemberPod(name, { version, image }),
    ]);
    return changes.reduce((changed, change) => change(changed), world);
  };
const withUsers: Change = (world) => ({ ...world, hasUsers: true });

describe('users of etcd', () => {
  it.each<[readonly string[], string, boolean]>([
    [['3.4.31', '3.4.31'], '3.5.35', true],
    [['3.4.31'], '3.7.3', true],
    [['3.4.31-rc.1'], '3.5.35', true],
    [['3.3.12', '3.4.31'], '3.5.35', true],
    [['3.4.31', '3.5.35'], '3.5.35', false],
    [['3.3.12'], '3.4.31', false],
    [['3.5.35'], '3.6.16', false],
    [['3.4.31'], '3.4.37', false],
    [[], '3.5.35', false],
  ])('block an upgrade from %j to %s: %s', (running, wanted, isBlocked) => {
    expect(isBlockedByAuth(running, wanted)).toBe(isBlocked);
  });

  it('block the upgrade from 3.4 to 3.5, and the message names the remedy', () => {
    const world = aWorld(at('3.4.31'), withIntent({ version: '3.5.35' }), withUsers);
    const verdict = planCluster(world);
    expect(verdict).toMatchObject({
      is: 'wait',
      reason: 'UpgradeRefused',
      message: expect.stringContaining('auth disable'),
    });
    expect(statusOf(world, verdict, undefined)).toMatchObject({ path: [] });
    expect(planCluster(aWorld(at('3.4.31'), withIntent({ version: '3.5.35' })))).toMatchObject({ is: 'act' });
  });

  it('block the upgrade of an unhealthy member too', () => {
    const down = withMember('db-1', { health: 'silent', leads: false });
    const world = aWorld(at('3.4.31'), withIntent({ version: '3.5.35' }), withUsers, down);
    expect(planCluster(world)).toMatchObject({ is: 'wait' });
  });
});
