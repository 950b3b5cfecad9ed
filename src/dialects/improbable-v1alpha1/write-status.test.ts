import { describe, expect, it } from 'vitest';
import { findingsFor } from '../../../test/support/findings.ts';
import { aWorld, nameOf, outOfContact, untouched, wanting, withMember } from '../../../test/support/worlds.ts';
import type { ClusterWorld } from '../../core/model/cluster.ts';
import type { MemberId } from '../../core/model/names.ts';
import type { Step } from '../../core/plan/cluster/step.ts';
import { improbable } from './dialect.ts';
import { writePeerStatus } from './peer-status.ts';
import { type EtcdClusterStatus, etcdClusterStatus } from './status.ts';

const findings = findingsFor(improbable, { replicas: 3, version: '3.5.35' });
const written = (world: ClusterWorld, previous: unknown = {}): EtcdClusterStatus =>
  improbable.writeStatus(findings(world), previous);
const conditionOf = ({ conditions = [] }: EtcdClusterStatus, type: string) =>
  conditions.find((condition) => condition.type === type);

describe('the status of a cluster', () => {
  it('says of a healthy one what the original says, and how it is', () => {
    const status = written(aWorld());
    expect(status).toMatchObject({
      replicas: 3,
      readyReplicas: 3,
      members: [
        { name: 'db-0', id: '1' },
        { name: 'db-1', id: '2' },
        { name: 'db-2', id: '3' },
      ],
      clusterVersion: '3.5.0',
      serverVersion: '3.5.35',
      serviceName: 'db-client',
      selector: 'app.kubernetes.io/name=etcd,etcd.improbable.io/cluster-name=db',
      observedGeneration: 7,
    });
    expect(conditionOf(status, 'Available')).toMatchObject({ status: 'True', observedGeneration: 7 });
  });

  it.each([
    ['healthy', aWorld()],
    ['new', aWorld(untouched())],
    ['silent', aWorld(outOfContact())],
    ['growing', aWorld(wanting(5))],
  ])('of a %s one is what the definition allows', (_, world) => {
    expect(etcdClusterStatus.strict().safeParse(written(world)).error).toBeUndefined();
  });

  it('says nothing new when there is nothing new', () => {
    const status = written(aWorld());
    expect(improbable.writeStatus(findings(aWorld(), '2026-06-01T00:00:00Z'), status)).toEqual(status);
  });

  it('keeps the members while nobody answers, but not the version, as in the original', () => {
    const status = written(aWorld(outOfContact()), written(aWorld()));
    expect(status.members).toHaveLength(3);
    expect(status.clusterVersion).toBe('');
    expect(status.members).toMatchObject([1, 2, 3].map(() => ({ healthy: false, leader: false })));
    expect(conditionOf(status, 'Available')).toMatchObject({ status: 'Unknown', reason: 'NoContact' });
  });

  it('names the alarms of a member, also on its EtcdPeer, until they are disarmed', () => {
    const raised = aWorld(withMember('db-1', { alarms: ['CORRUPT'] }));
    expect(written(raised).members?.map(({ alarms }) => alarms)).toEqual([undefined, ['CORRUPT'], undefined]);
    const member = raised.membership.seen ? raised.membership.value.members[1] : undefined;
    const said = { previous: undefined, generation: 1 };
    const first = writePeerStatus(member, said);
    expect(first.alarms).toEqual(['CORRUPT']);
    expect(writePeerStatus(member && { ...member, alarms: [] }, { ...said, previous: first }).alarms).toEqual([]);
    expect(writePeerStatus(member && { ...member, alarms: [] }, said)).not.toHaveProperty('alarms');
  });

  it('has the version that the oldest member allows', () => {
    const status = written(aWorld(withMember('db-1', { version: '3.4.37' })), { serverVersion: '3.4.37' });
    expect(status).toMatchObject({ clusterVersion: '3.4.0', serverVersion: '3.4.37' });
  });

  it('notes when a condition turned, and not when it only says something else', () => {
    const before = written(aWorld(untouched()));
    const later = improbable.writeStatus(findings(aWorld(), '2026-01-01T00:05:00Z'), before) as EtcdClusterStatus;
    expect(conditionOf(later, 'Available')?.lastTransitionTime).toBe('2026-01-01T00:05:00Z');
    expect(conditionOf(later, 'Degraded')?.lastTransitionTime).toBe('2026-01-01T00:00:00Z');
  });

  it('names what is wrong with a spec, beside what was known before', () => {
    const before = written(aWorld());
    const status = improbable.writeProblems('spec.replicas: must be set', before, new Date()) as EtcdClusterStatus;
    expect(status.members?.[0]).toEqual({ name: 'db-0', id: '1', role: 'voter', version: '3.5.35' });
    expect(conditionOf(status, 'Degraded')).toMatchObject({
      status: 'True',
      reason: 'BadSpec',
      message: 'spec.replicas: must be set',
    });
    expect(conditionOf(status, 'Available')).toMatchObject({ status: 'Unknown', reason: 'BadSpec' });
    expect(improbable.writeProblems('spec.replicas: must be set', status, new Date())).toEqual(status);
  });
});

describe('Events', () => {
  it.each<[string, Step]>([
    [
      'PeerCreated Created a new EtcdPeer with name "db-0"',
      { kind: 'start-carrier', name: nameOf('db-0'), join: { as: 'newcomer', among: [] }, version: '3.5.35' },
    ],
    ['MemberAdded Added a new member with name "db-3"', { kind: 'add-member', name: nameOf('db-3'), as: 'learner' }],
    [
      'MemberRemoved Removed a member with name "db-3"',
      { kind: 'remove-member', id: 1n as MemberId, name: nameOf('db-3'), because: 'surplus' },
    ],
    ['PeerRemoved Removed EtcdPeer with name "db-3"', { kind: 'discard-carrier', name: nameOf('db-3'), uid: 'u' }],
  ])('are in the original’s words: %s', (said, step) => {
    expect(improbable.tellStep(step).map(({ reason, message }) => `${reason} ${message}`)).toEqual([said]);
  });

  it('are not made of a member that only comes back', () => {
    const step = { kind: 'start-carrier', name: nameOf('db-0'), join: { as: 'returner' }, version: '3.5.35' } as const;
    expect(improbable.tellStep(step)).toEqual([]);
  });

  it('tell of another version when the member runs it', () => {
    const [before, after] = [written(aWorld()), written(aWorld(withMember('db-1', { version: '3.6.16' })))];
    expect(improbable.tellMembers(before, after)).toEqual([
      {
        ...{ type: 'Normal', reason: 'MemberUpgraded' },
        message: 'Upgraded the member with name "db-1" from 3.5.35 to 3.6.16',
      },
    ]);
    expect(improbable.tellMembers(after, before)).toMatchObject([{ reason: 'MemberDowngraded' }]);
  });

  it('warn of an even number', () => {
    const { blueprint } = findings(aWorld());
    const even = { ...blueprint, intent: { ...blueprint.intent, size: 4 } };
    expect(improbable.tellSpec(even)).toMatchObject([{ type: 'Warning', reason: 'EvenSize' }]);
    expect(improbable.tellSpec(blueprint)).toEqual([]);
  });
});
