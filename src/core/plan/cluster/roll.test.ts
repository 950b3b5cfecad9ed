import { describe, expect, it } from 'vitest';
import {
  aCarrier,
  aMember,
  aWorld,
  type Change,
  durable,
  imageOf,
  nameOf,
  outOfContact,
  wanting,
  withCarrier,
  withIntent,
  withMember,
} from '../../../../test/support/worlds.ts';
import type { ClusterWorld, Safeguard } from '../../model/cluster.ts';
import { planCluster } from './plan-cluster.ts';
import type { Verdict } from './step.ts';

const upTo = (version: string): Change => withIntent({ version });
const changedTo = (version: string): Partial<ReturnType<typeof aCarrier>> => ({ version, image: imageOf(version) });
const runs = (name: string, version: string): Change => {
  const both = [withMember(name, { version }), withCarrier(name, changedTo(version))];
  return (world) => both.reduce((w, change) => change(w), world);
};
const justBack = (name: string): Change => withCarrier(name, { ready: false, unreadySince: aWorld().now - 2000 });
const onlyLeaderLeft = [upTo('3.6.16'), runs('db-1', '3.6.16'), runs('db-2', '3.6.16')];
const drifted: Change = (w) => ({ ...w, carriers: w.carriers.map((c) => ({ ...c, drift: 'pod', template: 'old' })) });
const guardedBy =
  (state: Safeguard['state']): Change =>
  (w) => ({ ...w, safeguard: { name: 'db-before-3.6.16', state, why: '' } });
const joinedBy =
  (name: string): Change =>
  (w) => ({
    ...w,
    carriers: [...w.carriers, aCarrier(nameOf(name))],
    membership: w.membership.seen
      ? {
          seen: true,
          value: { ...w.membership.value, members: [...w.membership.value.members, aMember(nameOf(name), 7)] },
        }
      : w.membership,
  });

const said = (verdict: Verdict): string => {
  if (verdict.is === 'settled') return 'settled';
  if (verdict.is === 'wait') return `wait: ${verdict.reason}`;
  return verdict.steps
    .map((step) => [step.kind, 'name' in step ? step.name : '', 'to' in step ? step.to : ''].join(' ').trim())
    .join(', ');
};

const cases: Record<string, { given: ClusterWorld; want: string }> = {
  'begins with a follower': { given: aWorld(upTo('3.6.16')), want: 'change-image db-1 3.6.16' },
  'waits until the last one runs what it was given': {
    given: aWorld(upTo('3.6.16'), withCarrier('db-1', changedTo('3.6.16'))),
    want: 'wait: Upgrading',
  },
  'waits until the last one has started with another image of the same version': {
    given: aWorld(
      withIntent({ imageOf: (v) => `elsewhere/etcd:v${v}` }),
      withCarrier('db-1', { image: 'elsewhere/etcd:v3.5.35', isChanging: true }),
    ),
    want: 'wait: Upgrading',
  },
  'waits until the last one has caught up': {
    given: aWorld(upTo('3.6.16'), runs('db-1', '3.6.16'), withMember('db-0', { raftIndex: 9000n })),
    want: 'wait: Rolling',
  },
  'waits while one that was told to stop still answers': {
    given: aWorld(
      durable(),
      drifted,
      withMember('db-1', { health: 'leaving' }),
      withCarrier('db-1', { phase: 'stopping' }),
    ),
    want: 'wait: MemberReturning',
  },
  'goes on with the next follower': {
    given: aWorld(upTo('3.6.16'), runs('db-1', '3.6.16')),
    want: 'change-image db-2 3.6.16',
  },
  'moves the lead away before the leader is changed': {
    given: aWorld(...onlyLeaderLeft),
    want: 'move-leader db-1',
  },
  'moves it to the one that has been ready for the longest, not to one that is just back': {
    given: aWorld(...onlyLeaderLeft, justBack('db-1'), withMember('db-1', { raftIndex: 1001n })),
    want: 'move-leader db-2',
  },
  'has another take the place of one whose disk is gone from under it': {
    given: aWorld(durable(), drifted, withCarrier('db-1', { disk: 'lost' })),
    want: 'add-member db-new0',
  },
  'changes the only member as it is': {
    given: { ...aWorld(upTo('3.5.36'), wanting(1)), ...onlyOne() },
    want: 'change-image db-0 3.5.36',
  },
  'stops after the first that does not come up': {
    given: aWorld(
      upTo('3.6.99'),
      withMember('db-1', { health: 'silent', version: undefined }),
      withCarrier('db-1', {
        ...changedTo('3.6.99'),
        phase: 'stuck',
        ready: false,
        unreadyMillis: 3_600_000,
        why: 'no image',
      }),
    ),
    want: 'wait: MemberStuck',
  },
  'changes the one that is down first, and so goes back': {
    given: aWorld(
      withMember('db-2', { health: 'silent', version: undefined }),
      withCarrier('db-2', { ...changedTo('3.6.99'), phase: 'stuck', ready: false }),
    ),
    want: 'change-image db-2 3.5.35',
  },
  'walks a long way hop by hop': { given: aWorld(upTo('3.7.3')), want: 'change-image db-1 3.6.16' },
  'refuses what etcd cannot do': { given: aWorld(upTo('3.4.31')), want: 'wait: UpgradeRefused' },
  'and carries on with all else': { given: aWorld(durable(), drifted, upTo('3.4.31')), want: 'stop-carrier db-1' },
  'images of the version that runs included': {
    given: aWorld(upTo('3.4.31'), withIntent({ imageOf: (v) => `elsewhere/etcd:v${v}` })),
    want: 'change-image db-1 3.5.35',
  },
  'asks etcd before it goes back': {
    given: everybody('3.7.3', upTo('3.6.16')),
    want: 'enable-downgrade',
  },
  'waits until the data can be read by the older one': {
    given: everybody('3.7.3', upTo('3.6.16'), withMember('db-0', { downgradeTarget: '3.6.0' })),
    want: 'wait: Upgrading',
  },
  'then goes back one by one': {
    given: everybody('3.7.3', upTo('3.6.16'), readableFor('3.6.0')),
    want: 'change-image db-1 3.6.16',
  },
  'has a backup made before anybody moves to another minor, where one is wanted': {
    given: aWorld(upTo('3.6.16'), guardedBy('missing')),
    want: 'make-backup db-before-3.6.16',
  },
  'waits until that is good': { given: aWorld(upTo('3.6.16'), guardedBy('under-way')), want: 'wait: BackupFirst' },
  'moves nobody when it failed': { given: aWorld(upTo('3.6.16'), guardedBy('failed')), want: 'wait: BackupFailed' },
  'and makes it again later': {
    given: aWorld(upTo('3.6.16'), guardedBy('stale')),
    want: 'make-backup db-before-3.6.16',
  },
  'then moves on': { given: aWorld(upTo('3.6.16'), guardedBy('good')), want: 'change-image db-1 3.6.16' },
  'needs none for another patch': {
    given: aWorld(upTo('3.5.36'), guardedBy('missing')),
    want: 'change-image db-1 3.5.36',
  },
  'needs no other when the first has moved': {
    given: aWorld(upTo('3.6.16'), runs('db-1', '3.6.16'), guardedBy('stale')),
    want: 'change-image db-2 3.6.16',
  },
  'moves not even one that is down without it': {
    given: aWorld(
      upTo('3.6.16'),
      guardedBy('under-way'),
      withMember('db-2', { health: 'silent', version: undefined }),
      withCarrier('db-2', { phase: 'stuck', ready: false }),
    ),
    want: 'wait: MemberStuck',
  },
  'begins no upgrade while etcd has raised an alarm': {
    given: aWorld(upTo('3.5.36'), withMember('db-2', { alarms: ['NOSPACE'] })),
    want: 'wait: AlarmRaised',
  },
  'ends one that has begun': {
    given: aWorld(upTo('3.6.16'), runs('db-1', '3.6.16'), withMember('db-2', { alarms: ['NOSPACE'] })),
    want: 'change-image db-2 3.6.16',
  },
  'minds no alarm where nobody is upgraded': {
    given: aWorld(durable(), drifted, withMember('db-2', { alarms: ['NOSPACE'] })),
    want: 'stop-carrier db-1',
  },
  'scales before it upgrades': { given: aWorld(upTo('3.6.16'), wanting(5)), want: 'add-member db-new0' },

  'no longer goes back when nobody asks for it any more': {
    given: everybody('3.7.3', upTo('3.7.3'), withMember('db-0', { downgradeTarget: '3.6.0' })),
    want: 'cancel-downgrade',
  },
  'goes back as far as it was allowed to before it goes further': {
    given: everybody('3.7.3', upTo('3.5.35'), readableFor('3.6.0'), runs('db-1', '3.6.16')),
    want: 'change-image db-2 3.6.16',
  },
  'gives the spec of today to one that cannot start, where there is no majority to ask': {
    given: aWorld(outOfContact(), withCarrier('db-1', { ...changedTo('3.5.99'), phase: 'stuck', ready: false })),
    want: 'change-image db-1 3.5.35',
  },
  'but not one that cannot follow what ran before': {
    given: aWorld(
      upTo('3.3.27'),
      outOfContact(),
      withCarrier('db-1', { ...changedTo('3.5.99'), phase: 'stuck', ready: false }),
    ),
    want: 'wait: MemberStuck',
  },
  'and makes its pod again, if that has been corrected': {
    given: aWorld(durable(), outOfContact(), withCarrier('db-1', { drift: 'pod', phase: 'stuck', ready: false })),
    want: 'stop-carrier db-1',
  },

  'makes the pod of a member with a disk of its own again': {
    given: aWorld(durable(), drifted),
    want: 'stop-carrier db-1',
  },
  'tells the others first where it will be': {
    given: aWorld(durable(), drifted, withIntent({ peerURLOf: (name) => `http://${name}.elsewhere:2380` })),
    want: 'update-peer-url db-1',
  },
  'lets another take the place of a member whose data would go with its pod': {
    given: aWorld(drifted),
    want: 'add-member db-new0',
  },
  'removes an outdated member when the other has its vote': {
    given: aWorld(drifted, joinedBy('db-3')),
    want: 'remove-member db-1',
  },
  'does not count the one too many as surplus': {
    given: aWorld(drifted, joinedBy('db-3'), withMember('db-3', { role: 'learner' })),
    want: 'promote-member db-3',
  },
  'gives up the addition when nobody is outdated any more': {
    given: aWorld(joinedBy('db-3'), withMember('db-3', { role: 'learner', health: 'never-started' })),
    want: 'remove-member db-3',
  },
  'changes labels of all at once': {
    given: aWorld(withCarrier('db-1', { drift: 'labels' }), withCarrier('db-2', { drift: 'labels' })),
    want: 'relabel-carrier db-1, relabel-carrier db-2',
  },
};

describe('a change that reaches members', () => {
  for (const [sentence, { given, want }] of Object.entries(cases)) {
    it(sentence, () => expect(said(planCluster(given))).toBe(want));
  }
});

function everybody(version: string, ...changes: readonly Change[]): ClusterWorld {
  return aWorld(runs('db-0', version), runs('db-1', version), runs('db-2', version), ...changes);
}

function readableFor(version: string): Change {
  const ready = { storageVersion: version, downgradeTarget: version };
  return (world) => ['db-0', 'db-1', 'db-2'].reduce((w, name) => withMember(name, ready)(w), world);
}

function onlyOne(): Pick<ClusterWorld, 'carriers' | 'membership'> {
  const { carriers, membership } = aWorld();
  if (!membership.seen) throw new Error('a healthy world is seen');
  const value = { ...membership.value, members: membership.value.members.slice(0, 1) };
  return { carriers: carriers.slice(0, 1), membership: { seen: true, value } };
}
