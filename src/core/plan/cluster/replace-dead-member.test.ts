import { expect, it } from 'vitest';
import { aWorld, durable, withCarrier, withMember } from '../../../../test/support/worlds.ts';
import type { ClusterWorld } from '../../model/cluster.ts';
import { planCluster } from './plan-cluster.ts';

const { now } = aWorld();
const minutesAgo = (minutes: number): number => now - minutes * 60_000;

/** One of three has been away for an hour; the others have been ready for so long. */
const awayBeside = (readySince: number): ClusterWorld =>
  aWorld(
    durable(),
    withMember('db-2', { health: 'silent', leads: false }),
    withCarrier('db-2', { phase: 'stopping', ready: false, unreadySince: minutesAgo(60), goneBy: minutesAgo(55) }),
    ...['db-0', 'db-1'].map((name) => withCarrier(name, { readySince })),
  );

it('replaces one that has been away for long', () =>
  expect(planCluster(awayBeside(minutesAgo(90)))).toMatchObject({ steps: [{ kind: 'remove-member', name: 'db-2' }] }));

it('keeps the disk of one whose others were away as well, and have only just come back', () =>
  expect(planCluster(awayBeside(now - 10_000))).toMatchObject({ is: 'wait', reason: 'MemberReturning' }));

it('does not wait for it for ever', () =>
  expect(planCluster(awayBeside(minutesAgo(2)))).toMatchObject({ steps: [{ kind: 'remove-member', name: 'db-2' }] }));

it('does not take one that is never ready for one that is just back', () => {
  const world = awayBeside(minutesAgo(90));
  const carriers = world.carriers.map((each) => (each.name === 'db-1' ? { ...each, ready: false } : each));
  expect(planCluster({ ...world, carriers })).toMatchObject({ steps: [{ kind: 'remove-member', name: 'db-2' }] });
});
