import { describe, expect, it } from 'vitest';
import {
  aMember,
  aMemberPod,
  aWorld,
  durable,
  imageOf,
  nameOf,
  outOfContact,
  untouched,
  wanting,
  withIntent,
  withMember,
  withMemberPod,
  withoutMemberPod,
} from '../../../../test/support/worlds.ts';
import type { ClusterWorld } from '../model/cluster.ts';
import { planCluster } from './plan-cluster.ts';
import type { Verdict } from './step.ts';

/** A summary of a verdict: its steps, or the reason of a wait. */
function summaryOf(verdict: Verdict): string {
  if (verdict.is === 'settled') return 'settled';
  if (verdict.is === 'wait') return `wait: ${verdict.reason}`;
  return verdict.steps.map((step) => ('name' in step ? `${step.kind} ${step.name}` : step.kind)).join(', ');
}

const bootstrap = { members: ['db-0', 'db-1', 'db-2'].map(nameOf), token: 't' };
const unformed = (world: ClusterWorld): ClusterWorld => ({
  ...outOfContact()(world),
  memberPods: world.memberPods.map((memberPod) => ({ ...memberPod, ready: false })),
  memory: { bootstrap, clusterId: undefined, voters: [], version: undefined },
});
const joining = withMember('db-2', { role: 'learner', health: 'never-started', leads: false });
/** One voter of a version without learners. */
const alone = (world: ClusterWorld): ClusterWorld => ({
  ...world,
  memberPods: world.memberPods.slice(0, 1),
  membership: {
    seen: true,
    value: { clusterId: 'c1', members: [{ ...aMember(nameOf('db-0'), 0), version: '3.2.13' }] },
  },
});
/** A cluster that is known by its retained PVCs only, and does not answer. */
const knownByPvcs = { ...aWorld(outOfContact()), memory: { ...aWorld().memory, bootstrap: undefined, voters: [] } };

describe('the plan for a cluster', () => {
  const cases: Record<string, { given: ClusterWorld; want: string }> = {
    'does nothing to a healthy cluster': { given: aWorld(), want: 'settled' },
    'changes nothing while the cluster is paused': {
      given: aWorld(withIntent({ paused: true }), withoutMemberPod('db-1')),
      want: 'wait: Paused',
    },

    'records the bootstrap members before any other step': { given: aWorld(untouched()), want: 'record-bootstrap' },
    'starts no member while the PVCs belong to several clusters': {
      given: { ...aWorld(untouched()), memory: { ...aWorld(untouched()).memory, ambiguity: 'whose?' } },
      want: 'wait: WrongCluster',
    },
    'starts all bootstrap members at once': {
      given: { ...unformed(aWorld()), memberPods: [] },
      want: 'start-member-pod db-0, start-member-pod db-1, start-member-pod db-2',
    },
    'starts the recorded bootstrap members even if spec.size has changed': {
      given: { ...unformed(aWorld(wanting(1))), memberPods: [] },
      want: 'start-member-pod db-0, start-member-pod db-1, start-member-pod db-2',
    },
    'waits for the bootstrap members to form the cluster': { given: unformed(aWorld()), want: 'wait: Forming' },
    'reports a bootstrap member that cannot start': {
      given: unformed(aWorld(withMemberPod('db-1', { phase: 'stuck', ready: false, why: 'image not found' }))),
      want: 'wait: MemberStuck',
    },
    'recreates bootstrap members after the spec is corrected': {
      given: unformed(aWorld(withMemberPod('db-1', { phase: 'stuck', ready: false, drift: 'pod' }))),
      want: 'stop-member-pod db-1',
    },
    'records the cluster ID as soon as a majority answers': {
      given: { ...aWorld(), memory: { bootstrap, clusterId: undefined, voters: [], version: undefined } },
      want: 'record-formation',
    },
    'waits if members belong to another etcd cluster': {
      given: { ...aWorld(), memory: { bootstrap, clusterId: 'other', voters: [], version: undefined } },
      want: 'wait: WrongCluster',
    },
    'forbids re-bootstrap of members that have joined': {
      given: aWorld(
        withMemberPod('db-0', { bootstrapForbidden: false }),
        withMemberPod('db-2', { bootstrapForbidden: false }),
      ),
      want: 'forbid-rebootstrap db-0, forbid-rebootstrap db-2',
    },

    'adds a learner to grow': { given: aWorld(wanting(5)), want: 'add-member db-new0' },
    'starts a member that was added': {
      given: aWorld(joining, withoutMemberPod('db-2'), joining),
      want: 'start-member-pod db-2',
    },
    'promotes a learner that has caught up': {
      given: aWorld(withMember('db-2', { role: 'learner' })),
      want: 'promote-member db-2',
    },
    'waits for a learner to catch up': {
      given: aWorld(withMember('db-0', { raftIndex: 9000n }), withMember('db-2', { role: 'learner' })),
      want: 'wait: MemberStarting',
    },
    'adds no member while a learner is joining': {
      given: aWorld(wanting(5), withMember('db-2', { role: 'learner', health: 'silent' })),
      want: 'wait: MemberStarting',
    },
    'adds no member while a voter is unreachable': {
      given: aWorld(wanting(5), withMember('db-2', { health: 'silent' })),
      want: 'wait: MemberReturning',
    },
    'reports a joining member that cannot start': {
      given: aWorld(
        joining,
        withMemberPod('db-2', {
          phase: 'stuck',
          ready: false,
          bootstrapForbidden: false,
          why: '0/3 nodes are available',
        }),
      ),
      want: 'wait: MemberStuck',
    },
    'removes a joining member that is no longer wanted': {
      given: aWorld(
        wanting(2),
        joining,
        withMemberPod('db-2', { phase: 'stuck', ready: false, bootstrapForbidden: false }),
      ),
      want: 'remove-member db-2',
    },

    'starts the pod of a second voter before the member is added, without learners': {
      given: alone(aWorld(withIntent({ version: '3.2.13' }))),
      want: 'start-member-pod db-new0',
    },
    'adds a second voter after its container has started': {
      given: {
        ...alone(aWorld()),
        memberPods: [
          aMemberPod(nameOf('db-0')),
          { ...aMemberPod(nameOf('db-new7')), bootstrapForbidden: false, image: imageOf('3.2.13') },
        ],
      },
      want: 'add-member db-new7',
    },
    'deletes the pod of a second voter that is no longer wanted': {
      given: {
        ...alone(aWorld(wanting(1))),
        memberPods: [aMemberPod(nameOf('db-0')), { ...aMemberPod(nameOf('db-new7')), bootstrapForbidden: false }],
      },
      want: 'delete-member-pod db-new7',
    },
    'starts a joining member by unconfirmed membership if there is no quorum without it': {
      given: {
        ...aWorld(),
        memberPods: aWorld().memberPods.slice(0, 1),
        membership: {
          seen: false,
          why: 'no majority',
          unconfirmed: { clusterId: 'c1', members: membersOf(aWorld(joining)).filter(({ name }) => name !== 'db-1') },
        },
      },
      want: 'start-member-pod db-2',
    },

    'removes a follower to shrink, not the leader': { given: aWorld(wanting(1)), want: 'remove-member db-1' },
    'removes an unhealthy follower before a healthy one': {
      given: aWorld(wanting(2), withMember('db-2', { health: 'silent' })),
      want: 'remove-member db-2',
    },
    'deletes the pod and PVC of a name that is no member': {
      given: {
        ...aWorld(wanting(2)),
        membership: aWorld().membership.seen
          ? { seen: true, value: { clusterId: 'c1', members: membersOf(aWorld()).slice(0, 2) } }
          : aWorld().membership,
      },
      want: 'delete-member-pod db-2',
    },

    'replaces a member without a PVC whose pod is gone': {
      given: aWorld(withoutMemberPod('db-1')),
      want: 'remove-member db-1',
    },
    'replaces a member without a PVC whose pod is terminating': {
      given: aWorld(withMember('db-1', { health: 'silent' }), withMemberPod('db-1', { phase: 'stopping' })),
      want: 'remove-member db-1',
    },
    'replaces an evicted member': {
      given: aWorld(withMember('db-1', { health: 'silent' }), withMemberPod('db-1', { phase: 'ended', ready: false })),
      want: 'remove-member db-1',
    },
    'waits for a member whose container restarts': {
      given: aWorld(
        withMember('db-1', { health: 'silent' }),
        withMemberPod('db-1', { ready: false, unreadyMillis: 60_000 }),
      ),
      want: 'wait: MemberReturning',
    },
    'replaces a member that has been unreachable for too long': {
      given: aWorld(
        durable(),
        withMember('db-1', { health: 'silent', silence: { millis: 3_600_000, observations: 300 } }),
        withMemberPod('db-1', { ready: false, unreadyMillis: 3_600_000 }),
      ),
      want: 'remove-member db-1',
    },
    'does not replace a member that only the operator cannot reach': {
      given: aWorld(withMember('db-1', { health: 'silent' })),
      want: 'wait: MemberReturning',
    },
    'restarts a member on its own PVC': {
      given: aWorld(
        durable(),
        withMember('db-1', { health: 'silent' }),
        withMemberPod('db-1', { phase: 'gone', ready: false }),
      ),
      want: 'start-member-pod db-1',
    },
    'restarts all members on their PVCs when every pod is gone': {
      given: ['db-0', 'db-1', 'db-2'].reduce(
        (world, name) => withMemberPod(name, { phase: 'gone', ready: false })(world),
        aWorld(durable(), outOfContact()),
      ),
      want: 'start-member-pod db-0, start-member-pod db-1, start-member-pod db-2',
    },
    'replaces a member whose PVC is lost': {
      given: aWorld(
        durable(),
        withMember('db-1', { health: 'silent' }),
        withMemberPod('db-1', { volume: 'lost', phase: 'stuck', ready: false }),
      ),
      want: 'remove-member db-1',
    },

    'changes nothing while etcd does not answer': {
      given: aWorld(wanting(1), outOfContact()),
      want: 'wait: NoContact',
    },
    'removes no member without quorum': {
      given: aWorld(withoutMemberPod('db-0'), withoutMemberPod('db-1')),
      want: 'wait: NoContact',
    },
    'needs user action when a majority has lost its data': {
      given: { ...aWorld(outOfContact()), memberPods: aWorld().memberPods.slice(0, 1) },
      want: 'wait: QuorumLost',
    },
    'needs user action when all retained PVCs are deleted before the members answered': {
      given: { ...knownByPvcs, memberPods: [] },
      want: 'wait: QuorumLost',
    },
  };

  for (const [title, { given, want }] of Object.entries(cases)) {
    it(title, () => expect(summaryOf(planCluster(given))).toBe(want));
  }
});

function membersOf(world: ClusterWorld) {
  return world.membership.seen ? world.membership.value.members : [];
}
