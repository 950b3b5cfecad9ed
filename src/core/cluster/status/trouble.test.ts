import { describe, expect, it } from 'vitest';
import {
  aWorld,
  type Change,
  durable,
  nameOf,
  withIntent,
  withMember,
  withMemberPod,
} from '../../../../test/support/worlds.ts';
import { type Reason, reasons } from '../../reasons.ts';
import type { ClusterWorld } from '../model/cluster.ts';
import { planCluster } from '../plan/plan-cluster.ts';
import { wait, waitForUser } from '../plan/step.ts';
import { statusOf } from './cluster-status.ts';
import { findingsIn, secondsUntilReport } from './trouble.ts';

const silentFor = (name: string, seconds: number): Change =>
  withMember(name, { health: 'silent', leads: false, silence: { millis: seconds * 1000, observations: 9 } });
const onNode = (name: string, node: string, more: object = {}): Change =>
  withMemberPod(name, { node, ready: false, ...more });
const lost = { isNodeLost: true };
const withoutQuorumFor =
  (seconds: number): Change =>
  (w) => ({ ...w, withoutQuorumMillis: seconds * 1000 });

const conditionsOf = (world: ClusterWorld): Readonly<Record<string, string>> =>
  Object.fromEntries(
    statusOf(world, planCluster(world)).conditions.map(({ type, status, reason, message }) => [
      type,
      [status, reason, message].filter((part) => part !== '').join(' '),
    ]),
  );
const degraded = (...changes: readonly Change[]): string => conditionsOf(aWorld(...changes))['Degraded'] ?? '';

const withoutLeader = (name: string): string =>
  `1 of 3 members without a leader: ${name} (etcd answers, but follows no leader of this cluster: check the network between members)`;

/** The same cluster with two more healthy members. */
const withFive = (w: ClusterWorld): ClusterWorld => {
  const { clusterId, members } = w.membership.seen ? w.membership.value : { clusterId: '', members: [] };
  const more = members
    .slice(0, 2)
    .map((each, i) => ({ ...each, id: (each.id + 100n) as never, name: nameOf(`db-${i + 3}`) }));
  return { ...w, membership: { seen: true, value: { clusterId, members: [...members, ...more] } } };
};

describe('an unreachable member', () => {
  const unreachable = (seconds: number) => [durable(), silentFor('db-2', seconds), onNode('db-2', 'node2', lost)];

  it('is reported with its node after 15 seconds', () => {
    expect(degraded(...unreachable(14))).toBe('False AsDesired');
    expect(degraded(...unreachable(15))).toBe('True MembersUnreachable 1 of 3 members unreachable: node2 is NotReady');
    expect(findingsIn(aWorld(...unreachable(14)))).toEqual([]);
    expect(findingsIn(aWorld(...unreachable(15)))).toHaveLength(1);
    expect(secondsUntilReport(aWorld(...unreachable(12)))).toBe(3);
    expect(secondsUntilReport(aWorld(...unreachable(15)))).toBe(Number.POSITIVE_INFINITY);
  });

  it.each<[string, readonly Change[]]>([
    ['pod db-2 on node2 is not ready', [onNode('db-2', 'node2')]],
    ['pod db-2 is not ready', [withMemberPod('db-2', { ready: false })]],
    ['pod db-2 on node2 is ready, but etcd in it does not answer', [onNode('db-2', 'node2', { ready: true })]],
    ['pod db-2 on node2 is being deleted', [onNode('db-2', 'node2', { phase: 'stopping' })]],
    ['pod db-2 cannot start: ErrImagePull', [onNode('db-2', 'node2', { phase: 'stuck', why: 'ErrImagePull' })]],
    ['pod db-2 does not exist', [(w) => ({ ...w, memberPods: w.memberPods.filter(({ name }) => name !== 'db-2') })]],
  ])('is reported with the state of its pod: %s', (message, changes) => {
    const [finding] = findingsIn(aWorld(silentFor('db-2', 60), ...changes));
    expect(finding?.message).toBe(`1 of 3 members unreachable: ${message}`);
  });

  it('that answers without a leader is reported as such', () => {
    const [finding] = findingsIn(aWorld(silentFor('db-2', 60), withMember('db-2', { health: 'lost' })));
    expect(finding?.message).toBe(withoutLeader('db-2'));
  });

  it('is reported together with a member without a leader', () => {
    const leaderless = withMember('db-1', { health: 'lost', silence: { millis: 60_000, observations: 60 } });
    const size5: Change = (w) => (w.membership.seen ? withFive(w) : w);
    const [finding] = findingsIn(aWorld(size5, silentFor('db-2', 60), leaderless));
    expect(finding?.message).toContain('1 of 5 members unreachable: pod db-2');
    expect(finding?.message).toContain('1 of 5 members without a leader: db-1');
  });

  it('does not count as ready, even if its pod is ready', () => {
    const world = aWorld(silentFor('db-2', 60));
    expect(statusOf(world, planCluster(world))).toMatchObject({ ready: ['db-0', 'db-1'], unready: ['db-2'] });
  });

  it('is also reported while the cluster is paused', () => {
    expect(degraded(...unreachable(60), withIntent({ paused: true }))).toContain('node2 is NotReady');
  });
});

describe('a loss of quorum', () => {
  const nodes = [onNode('db-1', 'node2', lost), onNode('db-2', 'node2', lost)];
  const answeredByOne: Change = (w) => {
    const { members } = w.membership.seen ? w.membership.value : { members: [] };
    const health = (name: string) => (name === 'db-0' ? 'lost' : 'silent');
    const unconfirmed = {
      clusterId: 'c1',
      members: members.map((each) => ({ ...each, health: health(each.name) }) as const),
    };
    return { ...w, membership: { seen: false, why: 'etcd answers, but has no quorum', unconfirmed } };
  };
  const message =
    'NoContact 2 of 3 members unreachable: node2 is NotReady; without a majority etcd serves no writes; nothing is changed ' +
    'until members answer again';

  it('is in the conditions at once, without transport errors', () => {
    const { Available, Degraded } = conditionsOf(aWorld(durable(), ...nodes, answeredByOne));
    expect({ Available, Degraded }).toEqual({ Available: `False ${message}`, Degraded: `True ${message}` });
  });

  it('is a finding after five seconds, and Progressing is False then', () => {
    expect(findingsIn(aWorld(durable(), ...nodes, answeredByOne, withoutQuorumFor(4)))).toEqual([]);
    const world = aWorld(durable(), ...nodes, answeredByOne, withoutQuorumFor(5));
    expect(findingsIn(world)).toMatchObject([{ reason: 'NoContact' }]);
    expect(conditionsOf(world)['Progressing']).toBe(`False ${message}`);
  });
});

describe('a loss of quorum right after the loss of nodes', () => {
  it('is reported by the state of pods, and not as an operator without network', () => {
    const unconfirmed: Change = (w) => {
      const { members } = w.membership.seen ? w.membership.value : { members: [] };
      const seen = members.map((each, i) => ({ ...each, health: i === 0 ? ('lost' as const) : ('silent' as const) }));
      return { ...w, membership: { seen: false, why: '', unconfirmed: { clusterId: 'c1', members: seen } } };
    };
    expect(conditionsOf(aWorld(unconfirmed, withMemberPod('db-1', { node: 'node2' })))['Available']).toMatch(
      /^False NoContact 2 of 3 members unreachable: pod db-1 on node2 is ready, but etcd in it does not answer; pod db-2/,
    );
  });
});

describe('bootstrap members that are ready while etcd is unreachable', () => {
  const forming: Change = (w) => ({
    ...w,
    memory: {
      bootstrap: { members: ['db-0', 'db-1', 'db-2'].map(nameOf), token: 't' },
      ...{ clusterId: undefined, voters: [], version: undefined },
    },
    membership: { seen: false, why: 'etcd does not answer in time' },
  });
  const message =
    'the pods of all members are ready, but the operator cannot reach etcd: etcd does not answer in time; check ' +
    'NetworkPolicies between the operator and port 2379';

  it('are reported after five seconds', () => {
    expect(degraded(forming)).toBe('False AsDesired');
    expect(degraded(forming, withoutQuorumFor(5))).toBe(`True NoContact ${message}`);
    expect(conditionsOf(aWorld(forming, withoutQuorumFor(5)))['Available']).toBe(`Unknown NoContact ${message}`);
    expect(findingsIn(aWorld(forming, withoutQuorumFor(5)))).toEqual([{ reason: 'NoContact', message: message }]);
    expect(secondsUntilReport(aWorld(forming, withoutQuorumFor(2)))).toBe(3);
    expect(secondsUntilReport(aWorld(forming))).toBe(Number.POSITIVE_INFINITY);
  });

  it('are forming while none of them is ready', () => {
    const unready: Change = (w) => ({ ...w, memberPods: w.memberPods.map((each) => ({ ...each, ready: false })) });
    expect(conditionsOf(aWorld(forming, unready))['Progressing']).toMatch(/^True Forming/);
    expect(degraded(forming, unready)).toBe('False AsDesired');
  });
});

describe('an alarm', () => {
  const raised = (kind: string): Change => withMember('db-1', { alarms: [kind] });

  it.each(['NOSPACE', 'CORRUPT'])('is reported at once, also during other changes: %s', (kind) => {
    for (const change of [[], [withIntent({ size: 5 })], [withIntent({ paused: true })], [silentFor('db-2', 60)]]) {
      const world = aWorld(raised(kind), ...change);
      expect(conditionsOf(world)['Degraded']).toMatch(`True AlarmRaised etcd has raised the alarm ${kind} (db-1)`);
      expect(findingsIn(world)[0]?.reason).toBe('AlarmRaised');
    }
  });

  it('CORRUPT makes the cluster unavailable; NOSPACE does not', () => {
    expect(conditionsOf(aWorld(raised('CORRUPT')))['Available']).toMatch(/^False AlarmRaised/);
    expect(conditionsOf(aWorld(raised('NOSPACE')))['Available']).toBe('True AsDesired');
  });

  it('is reported together with other problems', () => {
    expect(degraded(raised('NOSPACE'), silentFor('db-2', 60))).toMatch(/NOSPACE \(db-1\).*1 of 3 members unreachable/);
    expect(degraded(raised('NOSPACE'), withIntent({ version: '3.4.31' }))).toMatch(
      /AlarmRaised .*downgrade from etcd 3.5 to 3.4.31 is impossible/,
    );
  });

  it('that blocks an upgrade is reported once', () => {
    const message = degraded(raised('NOSPACE'), withIntent({ version: '3.6.16' }));
    expect(message.match(/NOSPACE/g)).toHaveLength(1);
    expect(message).toContain('upgrade to 3.6.16 blocked');
  });
});

describe('a cluster that needs user action', () => {
  it('is Degraded for every reason', () => {
    const isReported = (reason: Reason): boolean =>
      statusOf(aWorld(), waitForUser(reason, 'do this')).conditions.some(
        ({ type, status, ...said }) => type === 'Degraded' && status === 'True' && said.reason === reason,
      );
    expect((Object.keys(reasons) as readonly Reason[]).filter((reason) => !isReported(reason))).toEqual([]);
  });

  it('is Degraded if the image of a member contains another version than its pod names', () => {
    const image: Change = withMemberPod('db-1', { version: '3.5.36', image: 'etcd:v3.5.36', readySince: 0 });
    expect(degraded(image, withIntent({ version: '3.5.36' }))).toMatch(
      /^True WrongImage member db-1 runs etcd 3\.5\.35/,
    );
  });

  it('is not Degraded while it only waits for a member to start', () => {
    expect(statusOf(aWorld(), wait('MemberStarting', 'waiting')).conditions).toContainEqual(
      expect.objectContaining({ type: 'Degraded', status: 'False' }),
    );
  });
});
