import { describe, expect, it } from 'vitest';
import {
  aCarrier,
  aMember,
  aWorld,
  durable,
  imageOf,
  nameOf,
  outOfContact,
  untouched,
  wanting,
  withCarrier,
  withIntent,
  withMember,
  withoutCarrier,
} from '../../../../test/support/worlds.ts';
import type { ClusterWorld } from '../../model/cluster.ts';
import { planCluster } from './plan-cluster.ts';
import type { Verdict } from './step.ts';

/** A verdict in a few words: what is done to whom, or what is waited for. */
function said(verdict: Verdict): string {
  if (verdict.is === 'settled') return 'settled';
  if (verdict.is === 'wait') return `wait: ${verdict.reason}`;
  return verdict.steps.map((step) => ('name' in step ? `${step.kind} ${step.name}` : step.kind)).join(', ');
}

const bootstrap = { members: ['db-0', 'db-1', 'db-2'].map(nameOf), token: 't' };
const unformed = (world: ClusterWorld): ClusterWorld => ({
  ...outOfContact()(world),
  carriers: world.carriers.map((carrier) => ({ ...carrier, ready: false })),
  memory: { bootstrap, clusterId: undefined, voters: [], version: undefined },
});
const joining = withMember('db-2', { role: 'learner', health: 'never-started', leads: false });
/** One voter of a version without learners. */
const alone = (world: ClusterWorld): ClusterWorld => ({
  ...world,
  carriers: world.carriers.slice(0, 1),
  membership: {
    seen: true,
    value: { clusterId: 'c1', members: [{ ...aMember(nameOf('db-0'), 0), version: '3.2.13' }] },
  },
});
/** Known by what stood on its disks, of which nobody has answered. */
const lonely = { ...aWorld(outOfContact()), memory: { ...aWorld().memory, bootstrap: undefined, voters: [] } };

describe('the plan for a cluster', () => {
  const cases: Record<string, { given: ClusterWorld; want: string }> = {
    'leaves a healthy cluster alone': { given: aWorld(), want: 'settled' },
    'touches nothing while it is paused': {
      given: aWorld(withIntent({ paused: true }), withoutCarrier('db-1')),
      want: 'wait: Paused',
    },

    'writes down who founds a cluster before anything else': { given: aWorld(untouched()), want: 'remember-bootstrap' },
    'starts on no disk while they are of several clusters': {
      given: { ...aWorld(untouched()), memory: { ...aWorld(untouched()).memory, doubt: 'whose?' } },
      want: 'wait: WrongCluster',
    },
    'starts all founders at once': {
      given: { ...unformed(aWorld()), carriers: [] },
      want: 'start-carrier db-0, start-carrier db-1, start-carrier db-2',
    },
    'starts the founders that were written down, whatever the size is by now': {
      given: { ...unformed(aWorld(wanting(1))), carriers: [] },
      want: 'start-carrier db-0, start-carrier db-1, start-carrier db-2',
    },
    'waits for founders to find each other': { given: unformed(aWorld()), want: 'wait: Forming' },
    'says what keeps a founder from starting': {
      given: unformed(aWorld(withCarrier('db-1', { phase: 'stuck', ready: false, why: 'image not found' }))),
      want: 'wait: MemberStuck',
    },
    'makes founders again that were made from a spec that has been corrected': {
      given: unformed(aWorld(withCarrier('db-1', { phase: 'stuck', ready: false, drift: 'pod' }))),
      want: 'stop-carrier db-1',
    },
    'writes down that the cluster has formed as soon as a majority answers': {
      given: { ...aWorld(), memory: { bootstrap, clusterId: undefined, voters: [], version: undefined } },
      want: 'remember-formation',
    },
    'never takes another cluster for this one': {
      given: { ...aWorld(), memory: { bootstrap, clusterId: 'other', voters: [], version: undefined } },
      want: 'wait: WrongCluster',
    },
    'seals members that have joined': {
      given: aWorld(withCarrier('db-0', { sealed: false }), withCarrier('db-2', { sealed: false })),
      want: 'seal-carrier db-0, seal-carrier db-2',
    },

    'grows by a learner': { given: aWorld(wanting(5)), want: 'add-member db-new0' },
    'starts a member that was added': {
      given: aWorld(joining, withoutCarrier('db-2'), joining),
      want: 'start-carrier db-2',
    },
    'gives a learner its vote when it has caught up': {
      given: aWorld(withMember('db-2', { role: 'learner' })),
      want: 'promote-member db-2',
    },
    'lets a learner catch up first': {
      given: aWorld(withMember('db-0', { raftIndex: 9000n }), withMember('db-2', { role: 'learner' })),
      want: 'wait: MemberStarting',
    },
    'adds nobody while a learner is under way': {
      given: aWorld(wanting(5), withMember('db-2', { role: 'learner', health: 'silent' })),
      want: 'wait: MemberStarting',
    },
    'adds nobody while a voter is away': {
      given: aWorld(wanting(5), withMember('db-2', { health: 'silent' })),
      want: 'wait: MemberReturning',
    },
    'says what keeps a newcomer from starting': {
      given: aWorld(
        joining,
        withCarrier('db-2', { phase: 'stuck', ready: false, sealed: false, why: '0/3 nodes are available' }),
      ),
      want: 'wait: MemberStuck',
    },
    'takes back an addition that is no longer wanted': {
      given: aWorld(wanting(2), joining, withCarrier('db-2', { phase: 'stuck', ready: false, sealed: false })),
      want: 'remove-member db-2',
    },

    'starts the body of a second voter before etcd hears of it, where there are no learners': {
      given: alone(aWorld(withIntent({ version: '3.2.13' }))),
      want: 'start-carrier db-new0',
    },
    'adds a second voter when its image has started': {
      given: {
        ...alone(aWorld()),
        carriers: [
          aCarrier(nameOf('db-0')),
          { ...aCarrier(nameOf('db-new7')), sealed: false, image: imageOf('3.2.13') },
        ],
      },
      want: 'add-member db-new7',
    },
    'takes a second voter back before etcd hears of it, when it is no longer wanted': {
      given: {
        ...alone(aWorld(wanting(1))),
        carriers: [aCarrier(nameOf('db-0')), { ...aCarrier(nameOf('db-new7')), sealed: false }],
      },
      want: 'discard-carrier db-new7',
    },
    'starts a newcomer by rumour when there is no majority without it': {
      given: {
        ...aWorld(),
        carriers: aWorld().carriers.slice(0, 1),
        membership: {
          seen: false,
          why: 'no majority',
          rumour: { clusterId: 'c1', members: membersOf(aWorld(joining)).filter(({ name }) => name !== 'db-1') },
        },
      },
      want: 'start-carrier db-2',
    },

    'shrinks by a follower, not by the leader': { given: aWorld(wanting(1)), want: 'remove-member db-1' },
    'shrinks by a sick follower before a healthy one': {
      given: aWorld(wanting(2), withMember('db-2', { health: 'silent' })),
      want: 'remove-member db-2',
    },
    'removes pod and disk of a name that is no member': {
      given: {
        ...aWorld(wanting(2)),
        membership: aWorld().membership.seen
          ? { seen: true, value: { clusterId: 'c1', members: membersOf(aWorld()).slice(0, 2) } }
          : aWorld().membership,
      },
      want: 'discard-carrier db-2',
    },

    'replaces a member whose pod is gone with its data': {
      given: aWorld(withoutCarrier('db-1')),
      want: 'remove-member db-1',
    },
    'replaces a member whose pod is going with its data': {
      given: aWorld(withMember('db-1', { health: 'silent' }), withCarrier('db-1', { phase: 'stopping' })),
      want: 'remove-member db-1',
    },
    'replaces an evicted member': {
      given: aWorld(withMember('db-1', { health: 'silent' }), withCarrier('db-1', { phase: 'ended', ready: false })),
      want: 'remove-member db-1',
    },
    'waits for a member whose container restarts': {
      given: aWorld(
        withMember('db-1', { health: 'silent' }),
        withCarrier('db-1', { ready: false, unreadyMillis: 60_000 }),
      ),
      want: 'wait: MemberReturning',
    },
    'replaces a member that has been out of reach for too long': {
      given: aWorld(
        durable(),
        withMember('db-1', { health: 'silent', silence: { millis: 3_600_000, looks: 300 } }),
        withCarrier('db-1', { ready: false, unreadyMillis: 3_600_000 }),
      ),
      want: 'remove-member db-1',
    },
    'does not believe that a member is dead when only we cannot reach it': {
      given: aWorld(withMember('db-1', { health: 'silent' })),
      want: 'wait: MemberReturning',
    },
    'gives a member back its pod on its own disk': {
      given: aWorld(
        durable(),
        withMember('db-1', { health: 'silent' }),
        withCarrier('db-1', { phase: 'gone', ready: false }),
      ),
      want: 'start-carrier db-1',
    },
    'brings all back on their own disks when every pod is gone and nobody can be asked': {
      given: ['db-0', 'db-1', 'db-2'].reduce(
        (world, name) => withCarrier(name, { phase: 'gone', ready: false })(world),
        aWorld(durable(), outOfContact()),
      ),
      want: 'start-carrier db-0, start-carrier db-1, start-carrier db-2',
    },
    'replaces a member whose disk has vanished': {
      given: aWorld(
        durable(),
        withMember('db-1', { health: 'silent' }),
        withCarrier('db-1', { disk: 'lost', phase: 'stuck', ready: false }),
      ),
      want: 'remove-member db-1',
    },

    'touches nothing while etcd is silent': { given: aWorld(wanting(1), outOfContact()), want: 'wait: NoContact' },
    'removes nobody without a majority': {
      given: aWorld(withoutCarrier('db-0'), withoutCarrier('db-1')),
      want: 'wait: NoContact',
    },
    'says that a person is needed when a majority has lost its data': {
      given: { ...aWorld(outOfContact()), carriers: aWorld().carriers.slice(0, 1) },
      want: 'wait: QuorumLost',
    },
    'says so when disks that it knew its members by are gone before they answered': {
      given: { ...lonely, carriers: [] },
      want: 'wait: QuorumLost',
    },
  };

  for (const [sentence, { given, want }] of Object.entries(cases)) {
    it(sentence, () => expect(said(planCluster(given))).toBe(want));
  }
});

function membersOf(world: ClusterWorld) {
  return world.membership.seen ? world.membership.value.members : [];
}
