import { describe, expect, it } from 'vitest';
import {
  aWorld,
  type Change,
  durable,
  imageOf,
  outOfContact,
  withCarrier,
  withIntent,
  withMember,
} from '../../../../test/support/worlds.ts';
import type { Carrier, ClusterWorld } from '../../model/cluster.ts';
import { planCluster } from './plan-cluster.ts';
import type { Step, Verdict } from './step.ts';

const both =
  (...changes: readonly Change[]): Change =>
  (world) =>
    changes.reduce((changed, change) => change(changed), world);
const runs = (name: string, version: string): Change =>
  both(withMember(name, { version }), withCarrier(name, { version, image: imageOf(version) }));
const allRun = (version: string): Change => both(...['db-0', 'db-1', 'db-2'].map((name) => runs(name, version)));
const forLong = { millis: 3_600_000, looks: 300 };
const away = (name: string, carrier: Partial<Carrier>): Change =>
  both(
    withMember(name, { health: 'silent', leads: false, version: undefined, raftIndex: undefined, silence: forLong }),
    withCarrier(name, { ready: false, ...carrier }),
  );
const minutes = (count: number): number => count * 60_000;

const said = (verdict: Verdict): string => {
  if (verdict.is === 'settled') return 'settled';
  if (verdict.is === 'wait') return `wait: ${verdict.reason}`;
  return verdict.steps
    .map((step) => [step.kind, 'name' in step ? step.name : '', versionIn(step)].join(' ').trim())
    .join(', ');
};
const versionIn = (step: Step): string => {
  if ('to' in step) return step.to;
  return 'version' in step ? step.version : '';
};

const lastSeenAt =
  (version: string): Change =>
  (w) => ({ ...w, memory: { ...w.memory, version } });
const onTheWay = both(durable(), allRun('3.5.35'), lastSeenAt('3.4.31'), withIntent({ version: '3.7.3' }));
const atTheFloor = both(durable(), allRun('3.5.35'), lastSeenAt('3.5.35'), withIntent({ version: '3.6.16' }));
const crashing = { phase: 'stuck', ready: false, why: 'CrashLoopBackOff' } as const;
const goingBack = both(
  allRun('3.7.3'),
  lastSeenAt('3.7.3'),
  withIntent({ version: '3.6.16' }),
  outOfContact(),
  withCarrier('db-1', { phase: 'stuck', ready: false }),
);
const elsewhere = withIntent({ peerURLOf: (name) => `http://${name}.elsewhere:2380` });
const ownWay = { phase: 'stuck', drift: 'pod', template: 'another' } as const;
const mistyped = { image: 'nowhere/etcd:v3.5.35', phase: 'stuck', unreadyMillis: minutes(60) } as const;

const cases: Record<string, { given: ClusterWorld; want: string }> = {
  'comes back with the minor that follows what it ran, and not what the others go to': {
    given: aWorld(onTheWay, away('db-2', { phase: 'gone', version: '3.4.31', image: '' })),
    want: 'start-carrier db-2 3.5.35',
  },
  'is changed no further than that either where its pod is still there': {
    given: aWorld(onTheWay, away('db-2', { phase: 'stuck', version: '3.4.31', image: imageOf('3.4.31') })),
    want: 'change-image db-2 3.5.35',
  },
  'goes no further either when it was given that minor and has perhaps never run it': {
    given: aWorld(onTheWay, away('db-2', { phase: 'gone', version: '3.5.35', image: '' })),
    want: 'start-carrier db-2 3.5.35',
  },
  'may be the first in another minor once all were seen to run the one before': {
    given: aWorld(onTheWay, lastSeenAt('3.5.35'), away('db-2', { phase: 'gone', version: '3.5.35', image: '' })),
    want: 'start-carrier db-2 3.6.16',
  },
  'stays in its minor while all were last seen below the floor of that minor': {
    given: aWorld(atTheFloor, lastSeenAt('3.5.20'), away('db-2', { phase: 'stuck' })),
    want: 'wait: MemberStuck',
  },
  'stays in its minor while an alarm is raised': {
    given: aWorld(atTheFloor, withMember('db-0', { alarms: ['NOSPACE'] }), away('db-2', { phase: 'stuck' })),
    want: 'wait: MemberStuck',
  },
  'runs the floor of its minor first where others run the next minor already': {
    given: aWorld(
      ...[atTheFloor, runs('db-0', '3.6.16')],
      away('db-2', { phase: 'stuck', version: '3.5.20', image: imageOf('3.5.20') }),
    ),
    want: 'change-image db-2 3.5.35',
  },
  'goes on to that minor when it was given it before all others': {
    given: aWorld(onTheWay, away('db-2', { phase: 'gone', version: '3.6.16', image: '' })),
    want: 'start-carrier db-2 3.6.16',
  },
  'does not lead anybody to what has never started': {
    given: aWorld(onTheWay, away('db-2', { phase: 'stuck', version: '3.6.99', image: imageOf('3.6.99') })),
    want: 'change-image db-2 3.6.16',
  },
  'keeps its place and its disk when its image is looked for in the wrong place': {
    given: aWorld(durable(), withIntent({ imageOf: (v) => `nowhere/etcd:v${v}` }), away('db-2', mistyped)),
    want: 'wait: MemberStuck',
  },
  'is given the right place to look once that is known': {
    given: aWorld(durable(), away('db-2', mistyped)),
    want: 'change-image db-2 3.5.35',
  },
  'is waited for while nobody has a disk of its kind': {
    given: aWorld(
      durable(),
      withMember('db-2', { health: 'never-started', role: 'learner', version: undefined }),
      withCarrier('db-2', {
        phase: 'stuck',
        ready: false,
        sealed: false,
        unreadyMillis: minutes(60),
        diskKind: 'another',
      }),
    ),
    want: 'wait: MemberStuck',
  },
  'is replaced when its node is dead, even though it was given what nobody runs yet': {
    given: aWorld(
      durable(),
      withIntent({ version: '3.6.16' }),
      away('db-2', {
        ...{ phase: 'stopping', version: '3.6.16', image: imageOf('3.6.16') },
        ...{ unreadyMillis: minutes(60), stoppingMillis: minutes(6) },
      }),
    ),
    want: 'remove-member db-2',
  },
  'but not because it was down for long before it was told to stop': {
    given: aWorld(
      durable(),
      withIntent({ version: '3.6.16' }),
      away('db-2', {
        ...{ phase: 'stopping', version: '3.6.16', image: imageOf('3.6.16') },
        ...{ unreadyMillis: minutes(60), stoppingMillis: minutes(0) },
      }),
    ),
    want: 'wait: MemberReturning',
  },
  'is replaced when it has been out of reach for too long, whatever it could be given': {
    given: aWorld(
      durable(),
      withIntent({ version: '3.6.16' }),
      away('db-2', { phase: 'running', unreadyMillis: minutes(6) }),
    ),
    want: 'remove-member db-2',
  },
  'is replaced when what it alone was given has been corrected, and its data would not outlive its pod': {
    given: aWorld(away('db-2', { ...ownWay, unreadyMillis: minutes(6) })),
    want: 'remove-member db-2',
  },
  'also where it has no vote yet, and the others still have to be changed': {
    given: aWorld(
      away('db-2', { ...ownWay, unreadyMillis: minutes(6) }),
      withMember('db-2', { role: 'learner' }),
      ...['db-0', 'db-1'].map((name) => withCarrier(name, { drift: 'pod', template: 'before' })),
      withIntent({ size: 2 }),
    ),
    want: 'remove-member db-2',
  },
  'but not before it had its time': {
    given: aWorld(away('db-2', { ...ownWay, unreadyMillis: minutes(1) })),
    want: 'wait: MemberStuck',
  },
  'and not while nothing has been corrected': {
    given: aWorld(away('db-2', { ...ownWay, drift: 'none', unreadyMillis: minutes(60) })),
    want: 'wait: MemberStuck',
  },
  'is told to the others where it will be before its pod is made again': {
    given: aWorld(durable(), elsewhere, away('db-2', { phase: 'stuck', drift: 'pod' })),
    want: 'update-peer-url db-2',
  },
  'is added again instead where it has no vote yet, as etcd might give it one by that': {
    given: aWorld(
      ...[durable(), elsewhere, away('db-2', { phase: 'stuck', drift: 'pod' })],
      withMember('db-2', { role: 'learner' }),
    ),
    want: 'remove-member db-2',
  },
  'gets the pod that the spec asks for by now when its own does not begin, where there is no majority to ask': {
    given: aWorld(durable(), outOfContact(), heldUp(2)),
    want: 'stop-carrier db-1',
  },
  'is given another patch of the minor that it was allowed to go back to, where there is no majority to ask': {
    given: aWorld(goingBack, withCarrier('db-1', { version: '3.6.99', image: imageOf('3.6.99') })),
    want: 'change-image db-1 3.6.16',
  },
  'but not of one that it has not been allowed to go back to: that is asked for when it runs again': {
    given: aWorld(goingBack, withCarrier('db-1', { version: '3.7.3', image: 'nowhere/etcd:v3.7.3' })),
    want: 'change-image db-1 3.7.3',
  },
  'stays in its minor while there is no majority to ask, whatever the spec says': {
    given: aWorld(atTheFloor, outOfContact(), withCarrier('db-1', crashing)),
    want: 'wait: MemberStuck',
  },
  'gets the right image of its own version while there is no majority to ask': {
    given: aWorld(atTheFloor, outOfContact(), withCarrier('db-1', { ...crashing, image: 'nowhere/etcd:v3.5.35' })),
    want: 'change-image db-1 3.5.35',
  },
  'gets another patch of its minor while there is no majority to ask': {
    given: aWorld(atTheFloor, withIntent({ version: '3.5.34' }), outOfContact(), withCarrier('db-1', crashing)),
    want: 'change-image db-1 3.5.34',
  },
  'gets back what all ran when the next minor does not start, and there is no majority to ask': {
    given: aWorld(
      ...[atTheFloor, withIntent({ version: '3.5.35' }), outOfContact()],
      withCarrier('db-1', { ...crashing, version: '3.6.16', image: imageOf('3.6.16') }),
    ),
    want: 'change-image db-1 3.5.35',
  },
  'also when it has begun, and nobody is served': {
    given: aWorld(durable(), outOfContact(), heldUp(2), nobodyReady, withCarrier('db-1', { phase: 'running' })),
    want: 'stop-carrier db-1',
  },
  'but not when somebody is, and only we are not answered': {
    given: aWorld(durable(), outOfContact(), heldUp(2), withCarrier('db-1', { phase: 'running' })),
    want: 'wait: NoContact',
  },
  'unless it has only just been made': {
    given: aWorld(durable(), outOfContact(), heldUp(0.5)),
    want: 'wait: NoContact',
  },
};

function nobodyReady(world: ClusterWorld): ClusterWorld {
  return { ...world, carriers: world.carriers.map((each) => ({ ...each, ready: false })) };
}

function heldUp(count: number): Change {
  return withCarrier('db-1', {
    ...{ phase: 'starting', drift: 'pod', ready: false, hasRun: false },
    unreadyMillis: minutes(count),
  });
}

describe('a member that is away', () => {
  for (const [sentence, { given, want }] of Object.entries(cases)) {
    it(sentence, () => expect(said(planCluster(given))).toBe(want));
  }
});
