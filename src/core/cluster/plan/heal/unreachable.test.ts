import { describe, expect, it } from 'vitest';
import {
  aWorld,
  type Change,
  durable,
  imageOf,
  outOfContact,
  withIntent,
  withMember,
  withMemberPod,
} from '../../../../../test/support/worlds.ts';
import type { ClusterWorld, MemberPod } from '../../model/cluster.ts';
import { planCluster } from '../plan-cluster.ts';
import type { MemberStep, Verdict } from '../step.ts';

const both =
  (...changes: readonly Change[]): Change =>
  (world) =>
    changes.reduce((changed, change) => change(changed), world);
const runs = (name: string, version: string): Change =>
  both(withMember(name, { version }), withMemberPod(name, { version, image: imageOf(version) }));
const allRun = (version: string): Change => both(...['db-0', 'db-1', 'db-2'].map((name) => runs(name, version)));
const forLong = { millis: 3_600_000, observations: 300 };
const unreachable = (name: string, memberPod: Partial<MemberPod>): Change =>
  both(
    withMember(name, { health: 'silent', leads: false, version: undefined, raftIndex: undefined, silence: forLong }),
    withMemberPod(name, { ready: false, ...memberPod }),
  );
const minutes = (count: number): number => count * 60_000;

const summaryOf = (verdict: Verdict): string => {
  if (verdict.is === 'settled') return 'settled';
  if (verdict.is === 'wait') return `wait: ${verdict.reason}`;
  return verdict.steps
    .map((step) => [step.kind, 'name' in step ? step.name : '', versionIn(step)].join(' ').trim())
    .join(', ');
};
const versionIn = (step: MemberStep): string => {
  if ('to' in step) return step.to;
  return 'version' in step ? step.version : '';
};

const lastSeenAt =
  (version: string): Change =>
  (w) => ({ ...w, memory: { ...w.memory, version } });
const upgrading = both(durable(), allRun('3.5.35'), lastSeenAt('3.4.31'), withIntent({ version: '3.7.3' }));
const atMinimumPatch = both(durable(), allRun('3.5.35'), lastSeenAt('3.5.35'), withIntent({ version: '3.6.16' }));
const crashing = { phase: 'stuck', ready: false, why: 'CrashLoopBackOff' } as const;
const downgrading = both(
  allRun('3.7.3'),
  lastSeenAt('3.7.3'),
  withIntent({ version: '3.6.16' }),
  outOfContact(),
  withMemberPod('db-1', { phase: 'stuck', ready: false }),
);
const elsewhere = withIntent({ peerURLOf: (name) => `http://${name}.elsewhere:2380` });
const ownTemplate = { phase: 'stuck', drift: 'pod', template: 'another' } as const;
const mistyped = { image: 'nowhere/etcd:v3.5.35', phase: 'stuck', unreadyMillis: minutes(60) } as const;

const cases: Record<string, { given: ClusterWorld; want: string }> = {
  'restarts with the minor after its own, and not with the target of the others': {
    given: aWorld(upgrading, unreachable('db-2', { phase: 'gone', version: '3.4.31', image: '' })),
    want: 'start-member-pod db-2 3.5.35',
  },
  'gets at most the next minor if its pod still exists': {
    given: aWorld(upgrading, unreachable('db-2', { phase: 'stuck', version: '3.4.31', image: imageOf('3.4.31') })),
    want: 'change-image db-2 3.5.35',
  },
  'stays in a minor that it may never have run': {
    given: aWorld(upgrading, unreachable('db-2', { phase: 'gone', version: '3.5.35', image: '' })),
    want: 'start-member-pod db-2 3.5.35',
  },
  'may be the first in the next minor after all members have run the minor before': {
    given: aWorld(
      upgrading,
      lastSeenAt('3.5.35'),
      unreachable('db-2', { phase: 'gone', version: '3.5.35', image: '' }),
    ),
    want: 'start-member-pod db-2 3.6.16',
  },
  'stays in its minor if the last common version is below the minimum patch': {
    given: aWorld(atMinimumPatch, lastSeenAt('3.5.20'), unreachable('db-2', { phase: 'stuck' })),
    want: 'wait: MemberStuck',
  },
  'stays in its minor while an alarm is raised': {
    given: aWorld(atMinimumPatch, withMember('db-0', { alarms: ['NOSPACE'] }), unreachable('db-2', { phase: 'stuck' })),
    want: 'wait: MemberStuck',
  },
  'gets the required patch of its minor first if others run the next minor': {
    given: aWorld(
      ...[atMinimumPatch, runs('db-0', '3.6.16')],
      unreachable('db-2', { phase: 'stuck', version: '3.5.20', image: imageOf('3.5.20') }),
    ),
    want: 'change-image db-2 3.5.35',
  },
  'keeps the next minor if its pod already has it': {
    given: aWorld(upgrading, unreachable('db-2', { phase: 'gone', version: '3.6.16', image: '' })),
    want: 'start-member-pod db-2 3.6.16',
  },
  'does not spread a version that has never started': {
    given: aWorld(upgrading, unreachable('db-2', { phase: 'stuck', version: '3.6.99', image: imageOf('3.6.99') })),
    want: 'change-image db-2 3.6.16',
  },
  'keeps its membership and its PVC if its image is in the wrong registry': {
    given: aWorld(durable(), withIntent({ imageOf: (v) => `nowhere/etcd:v${v}` }), unreachable('db-2', mistyped)),
    want: 'wait: MemberStuck',
  },
  'gets the corrected image': {
    given: aWorld(durable(), unreachable('db-2', mistyped)),
    want: 'change-image db-2 3.5.35',
  },
  'is not replaced while no healthy member has a PVC of the same kind': {
    given: aWorld(
      durable(),
      withMember('db-2', { health: 'never-started', role: 'learner', version: undefined }),
      withMemberPod('db-2', {
        phase: 'stuck',
        ready: false,
        bootstrapForbidden: false,
        unreadyMillis: minutes(60),
        volumeKind: 'another',
      }),
    ),
    want: 'wait: MemberStuck',
  },
  'is replaced if its node is dead, even with a version that no member runs yet': {
    given: aWorld(
      durable(),
      withIntent({ version: '3.6.16' }),
      unreachable('db-2', {
        ...{ phase: 'stopping', version: '3.6.16', image: imageOf('3.6.16') },
        ...{ unreadyMillis: minutes(60), stoppingMillis: minutes(6) },
      }),
    ),
    want: 'remove-member db-2',
  },
  'is not replaced right after the deletion of its pod, even if it was down for long before': {
    given: aWorld(
      durable(),
      withIntent({ version: '3.6.16' }),
      unreachable('db-2', {
        ...{ phase: 'stopping', version: '3.6.16', image: imageOf('3.6.16') },
        ...{ unreadyMillis: minutes(60), stoppingMillis: minutes(0) },
      }),
    ),
    want: 'wait: MemberReturning',
  },
  'is replaced after it has been unreachable for too long, even during an upgrade': {
    given: aWorld(
      durable(),
      withIntent({ version: '3.6.16' }),
      unreachable('db-2', { phase: 'running', unreadyMillis: minutes(6) }),
    ),
    want: 'remove-member db-2',
  },
  'is replaced without a PVC after its own template is corrected': {
    given: aWorld(unreachable('db-2', { ...ownTemplate, unreadyMillis: minutes(6) })),
    want: 'remove-member db-2',
  },
  'is replaced as an outdated learner while other members are outdated': {
    given: aWorld(
      unreachable('db-2', { ...ownTemplate, unreadyMillis: minutes(6) }),
      withMember('db-2', { role: 'learner' }),
      ...['db-0', 'db-1'].map((name) => withMemberPod(name, { drift: 'pod', template: 'before' })),
      withIntent({ size: 2 }),
    ),
    want: 'remove-member db-2',
  },
  'is not replaced before replaceAfterSeconds': {
    given: aWorld(unreachable('db-2', { ...ownTemplate, unreadyMillis: minutes(1) })),
    want: 'wait: MemberStuck',
  },
  'is not replaced while its template is not corrected': {
    given: aWorld(unreachable('db-2', { ...ownTemplate, drift: 'none', unreadyMillis: minutes(60) })),
    want: 'wait: MemberStuck',
  },
  'gets its new peer URL before its pod is recreated': {
    given: aWorld(durable(), elsewhere, unreachable('db-2', { phase: 'stuck', drift: 'pod' })),
    want: 'update-peer-url db-2',
  },
  'is removed and added again as a learner with an outdated peer URL': {
    given: aWorld(
      ...[durable(), elsewhere, unreachable('db-2', { phase: 'stuck', drift: 'pod' })],
      withMember('db-2', { role: 'learner' }),
    ),
    want: 'remove-member db-2',
  },
  'gets a corrected pod if its own does not start, without quorum': {
    given: aWorld(durable(), outOfContact(), heldUp(2)),
    want: 'stop-member-pod db-1',
  },
  'gets another patch of the minor of an enabled downgrade, without quorum': {
    given: aWorld(downgrading, withMemberPod('db-1', { version: '3.6.99', image: imageOf('3.6.99') })),
    want: 'change-image db-1 3.6.16',
  },
  'gets no other minor for a downgrade that is not enabled, without quorum': {
    given: aWorld(downgrading, withMemberPod('db-1', { version: '3.7.3', image: 'nowhere/etcd:v3.7.3' })),
    want: 'change-image db-1 3.7.3',
  },
  'stays in its minor without quorum, whatever the spec asks for': {
    given: aWorld(atMinimumPatch, outOfContact(), withMemberPod('db-1', crashing)),
    want: 'wait: MemberStuck',
  },
  'gets the corrected image of its own version without quorum': {
    given: aWorld(
      atMinimumPatch,
      outOfContact(),
      withMemberPod('db-1', { ...crashing, image: 'nowhere/etcd:v3.5.35' }),
    ),
    want: 'change-image db-1 3.5.35',
  },
  'gets another patch of its minor without quorum': {
    given: aWorld(atMinimumPatch, withIntent({ version: '3.5.34' }), outOfContact(), withMemberPod('db-1', crashing)),
    want: 'change-image db-1 3.5.34',
  },
  'gets the last common version without quorum if the next minor does not start': {
    given: aWorld(
      ...[atMinimumPatch, withIntent({ version: '3.5.35' }), outOfContact()],
      withMemberPod('db-1', { ...crashing, version: '3.6.16', image: imageOf('3.6.16') }),
    ),
    want: 'change-image db-1 3.5.35',
  },
  'gets a corrected pod without quorum if its own runs and no pod is ready': {
    given: aWorld(durable(), outOfContact(), heldUp(2), noneReady, withMemberPod('db-1', { phase: 'running' })),
    want: 'stop-member-pod db-1',
  },
  'keeps its pod if another pod is ready and only the operator cannot reach etcd': {
    given: aWorld(durable(), outOfContact(), heldUp(2), withMemberPod('db-1', { phase: 'running' })),
    want: 'wait: NoContact',
  },
  'keeps a new pod for a while without quorum': {
    given: aWorld(durable(), outOfContact(), heldUp(0.5)),
    want: 'wait: NoContact',
  },
};

function noneReady(world: ClusterWorld): ClusterWorld {
  return { ...world, memberPods: world.memberPods.map((each) => ({ ...each, ready: false })) };
}

function heldUp(count: number): Change {
  return withMemberPod('db-1', {
    ...{ phase: 'starting', drift: 'pod', ready: false, hasRun: false },
    unreadyMillis: minutes(count),
  });
}

describe('an unreachable member', () => {
  for (const [title, { given, want }] of Object.entries(cases)) {
    it(title, () => expect(summaryOf(planCluster(given))).toBe(want));
  }
});
