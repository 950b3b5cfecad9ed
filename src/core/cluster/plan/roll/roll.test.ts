import { describe, expect, it } from 'vitest';
import {
  aMember,
  aMemberPod,
  aWorld,
  type Change,
  durable,
  imageOf,
  nameOf,
  outOfContact,
  wanting,
  withIntent,
  withMember,
  withMemberPod,
} from '../../../../../test/support/worlds.ts';
import type { ClusterWorld } from '../../model/cluster.ts';
import { planCluster } from '../plan-cluster.ts';
import type { Verdict } from '../step.ts';

const upTo = (version: string): Change => withIntent({ version });
const changedTo = (version: string): Partial<ReturnType<typeof aMemberPod>> => ({ version, image: imageOf(version) });
const runs = (name: string, version: string): Change => {
  const both = [withMember(name, { version }), withMemberPod(name, changedTo(version))];
  return (world) => both.reduce((w, change) => change(w), world);
};
const justRestarted = (name: string): Change =>
  withMemberPod(name, { ready: false, unreadySince: aWorld().now - 2000 });
const onlyLeaderLeft = [upTo('3.6.16'), runs('db-1', '3.6.16'), runs('db-2', '3.6.16')];
const drifted: Change = (w) => ({
  ...w,
  memberPods: w.memberPods.map((c) => ({ ...c, drift: 'pod', template: 'old' })),
});
const joinedBy =
  (name: string): Change =>
  (w) => ({
    ...w,
    memberPods: [...w.memberPods, aMemberPod(nameOf(name))],
    membership: w.membership.seen
      ? {
          seen: true,
          value: { ...w.membership.value, members: [...w.membership.value.members, aMember(nameOf(name), 7)] },
        }
      : w.membership,
  });

const summaryOf = (verdict: Verdict): string => {
  if (verdict.is === 'settled') return 'settled';
  if (verdict.is === 'wait') return `wait: ${verdict.reason}`;
  return verdict.steps
    .map((step) => [step.kind, 'name' in step ? step.name : '', 'to' in step ? step.to : ''].join(' ').trim())
    .join(', ');
};

const cases: Record<string, { given: ClusterWorld; want: string }> = {
  'starts with a follower': { given: aWorld(upTo('3.6.16')), want: 'change-image db-1 3.6.16' },
  'waits until the last changed member runs its new version': {
    given: aWorld(upTo('3.6.16'), withMemberPod('db-1', changedTo('3.6.16'))),
    want: 'wait: Upgrading',
  },
  'waits until the last changed member has restarted with another image of the same version': {
    given: aWorld(
      withIntent({ imageOf: (v) => `elsewhere/etcd:v${v}` }),
      withMemberPod('db-1', { image: 'elsewhere/etcd:v3.5.35', isChanging: true }),
    ),
    want: 'wait: Upgrading',
  },
  'waits until the last changed member has caught up': {
    given: aWorld(upTo('3.6.16'), runs('db-1', '3.6.16'), withMember('db-0', { raftIndex: 9000n })),
    want: 'wait: Rolling',
  },
  'waits while a member with a terminating pod still answers': {
    given: aWorld(
      durable(),
      drifted,
      withMember('db-1', { health: 'leaving' }),
      withMemberPod('db-1', { phase: 'stopping' }),
    ),
    want: 'wait: MemberReturning',
  },
  'continues with the next follower': {
    given: aWorld(upTo('3.6.16'), runs('db-1', '3.6.16')),
    want: 'change-image db-2 3.6.16',
  },
  'transfers leadership before the leader is changed': {
    given: aWorld(...onlyLeaderLeft),
    want: 'transfer-leadership db-1',
  },
  'transfers leadership to the member that has been ready for the longest': {
    given: aWorld(...onlyLeaderLeft, justRestarted('db-1'), withMember('db-1', { raftIndex: 1001n })),
    want: 'transfer-leadership db-2',
  },
  'replaces a member whose PVC is lost': {
    given: aWorld(durable(), drifted, withMemberPod('db-1', { volume: 'lost' })),
    want: 'add-member db-new0',
  },
  'changes the image of the only member in place': {
    given: { ...aWorld(upTo('3.5.36'), wanting(1)), ...onlyOne() },
    want: 'change-image db-0 3.5.36',
  },
  'stops after the first member that does not start': {
    given: aWorld(
      upTo('3.6.99'),
      withMember('db-1', { health: 'silent', version: undefined }),
      withMemberPod('db-1', {
        ...changedTo('3.6.99'),
        phase: 'stuck',
        ready: false,
        unreadyMillis: 3_600_000,
        why: 'no image',
      }),
    ),
    want: 'wait: MemberStuck',
  },
  'changes an unhealthy member first, so that a bad version can be reverted': {
    given: aWorld(
      withMember('db-2', { health: 'silent', version: undefined }),
      withMemberPod('db-2', { ...changedTo('3.6.99'), phase: 'stuck', ready: false }),
    ),
    want: 'change-image db-2 3.5.35',
  },
  'upgrades over several minors hop by hop': { given: aWorld(upTo('3.7.3')), want: 'change-image db-1 3.6.16' },
  'refuses a downgrade that etcd does not support': { given: aWorld(upTo('3.4.31')), want: 'wait: UpgradeRefused' },
  'still rolls out other changes while an upgrade is refused': {
    given: aWorld(durable(), drifted, upTo('3.4.31')),
    want: 'stop-member-pod db-1',
  },
  'still rolls out another image of the running version while an upgrade is refused': {
    given: aWorld(upTo('3.4.31'), withIntent({ imageOf: (v) => `elsewhere/etcd:v${v}` })),
    want: 'change-image db-1 3.5.35',
  },
  'enables a downgrade in etcd first': {
    given: allRunning('3.7.3', upTo('3.6.16')),
    want: 'enable-downgrade',
  },
  'waits until the data is converted for the older version': {
    given: allRunning('3.7.3', upTo('3.6.16'), withMember('db-0', { downgradeTarget: '3.6.0' })),
    want: 'wait: Upgrading',
  },
  'then downgrades one member at a time': {
    given: allRunning('3.7.3', upTo('3.6.16'), readableFor('3.6.0')),
    want: 'change-image db-1 3.6.16',
  },
  'starts no upgrade while an alarm is raised': {
    given: aWorld(upTo('3.5.36'), withMember('db-2', { alarms: ['NOSPACE'] })),
    want: 'wait: AlarmRaised',
  },
  'finishes an upgrade in progress while NOSPACE is raised': {
    given: aWorld(upTo('3.6.16'), runs('db-1', '3.6.16'), withMember('db-2', { alarms: ['NOSPACE'] })),
    want: 'change-image db-2 3.6.16',
  },
  'rolls pods while NOSPACE is raised': {
    given: aWorld(durable(), drifted, withMember('db-2', { alarms: ['NOSPACE'] })),
    want: 'stop-member-pod db-1',
  },
  'scales before it upgrades': { given: aWorld(upTo('3.6.16'), wanting(5)), want: 'add-member db-new0' },

  'cancels a downgrade that the spec no longer asks for': {
    given: allRunning('3.7.3', upTo('3.7.3'), withMember('db-0', { downgradeTarget: '3.6.0' })),
    want: 'cancel-downgrade',
  },
  'finishes a downgrade by one minor before the next': {
    given: allRunning('3.7.3', upTo('3.5.35'), readableFor('3.6.0'), runs('db-1', '3.6.16')),
    want: 'change-image db-2 3.6.16',
  },
  'applies the current spec to a member that cannot start, without quorum': {
    given: aWorld(outOfContact(), withMemberPod('db-1', { ...changedTo('3.5.99'), phase: 'stuck', ready: false })),
    want: 'change-image db-1 3.5.35',
  },
  'does not apply a version without an upgrade path to a member that cannot start, without quorum': {
    given: aWorld(
      upTo('3.3.27'),
      outOfContact(),
      withMemberPod('db-1', { ...changedTo('3.5.99'), phase: 'stuck', ready: false }),
    ),
    want: 'wait: MemberStuck',
  },
  'recreates a corrected pod that cannot start, without quorum': {
    given: aWorld(durable(), outOfContact(), withMemberPod('db-1', { drift: 'pod', phase: 'stuck', ready: false })),
    want: 'stop-member-pod db-1',
  },

  'recreates the pod of a member with a PVC': {
    given: aWorld(durable(), drifted),
    want: 'stop-member-pod db-1',
  },
  'updates the peer URL before the pod is recreated': {
    given: aWorld(durable(), drifted, withIntent({ peerURLOf: (name) => `http://${name}.elsewhere:2380` })),
    want: 'update-peer-url db-1',
  },
  'adds a replacement for an outdated member without a PVC': {
    given: aWorld(drifted),
    want: 'add-member db-new0',
  },
  'removes an outdated member after its replacement is a voter': {
    given: aWorld(drifted, joinedBy('db-3')),
    want: 'remove-member db-1',
  },
  'does not remove a replacement as surplus': {
    given: aWorld(drifted, joinedBy('db-3'), withMember('db-3', { role: 'learner' })),
    want: 'promote-member db-3',
  },
  'removes a replacement when no member is outdated': {
    given: aWorld(joinedBy('db-3'), withMember('db-3', { role: 'learner', health: 'never-started' })),
    want: 'remove-member db-3',
  },
  'patches the labels of all pods at once': {
    given: aWorld(withMemberPod('db-1', { drift: 'labels' }), withMemberPod('db-2', { drift: 'labels' })),
    want: 'relabel-member-pod db-1, relabel-member-pod db-2',
  },
};

describe('a rolling change', () => {
  for (const [title, { given, want }] of Object.entries(cases)) {
    it(title, () => expect(summaryOf(planCluster(given))).toBe(want));
  }
});

function allRunning(version: string, ...changes: readonly Change[]): ClusterWorld {
  return aWorld(runs('db-0', version), runs('db-1', version), runs('db-2', version), ...changes);
}

function readableFor(version: string): Change {
  const ready = { storageVersion: version, downgradeTarget: version };
  return (world) => ['db-0', 'db-1', 'db-2'].reduce((w, name) => withMember(name, ready)(w), world);
}

function onlyOne(): Pick<ClusterWorld, 'memberPods' | 'membership'> {
  const { memberPods, membership } = aWorld();
  if (!membership.seen) throw new Error('a healthy world is seen');
  const value = { ...membership.value, members: membership.value.members.slice(0, 1) };
  return { memberPods: memberPods.slice(0, 1), membership: { seen: true, value } };
}
