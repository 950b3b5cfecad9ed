import { describe, expect, it } from 'vitest';
import { findingsFor } from '../../../test/support/findings.ts';
import { readOf } from '../../../test/support/upkeep-worlds.ts';
import { aWorld, nameOf, outOfContact, untouched, wanting, withMember } from '../../../test/support/worlds.ts';
import type { ClusterWorld } from '../../core/cluster/model/cluster.ts';
import type { MemberId } from '../../core/cluster/model/names.ts';
import type { Step } from '../../core/cluster/plan/step.ts';
import { clientService } from '../../core/manifests/services.ts';
import { improbable } from './dialect.ts';
import { writePeerStatus } from './peer-status.ts';
import { type EtcdClusterStatus, etcdClusterStatus } from './status.ts';

const findings = findingsFor(improbable, { replicas: 3, version: '3.5.35' });
const written = (world: ClusterWorld, previous: unknown = {}): EtcdClusterStatus =>
  improbable.writeStatus(findings(world), previous);
const conditionOf = ({ conditions = [] }: EtcdClusterStatus, type: string) =>
  conditions.find((condition) => condition.type === type);

describe('the status of a cluster', () => {
  it('of a healthy cluster has the original’s fields and conditions', () => {
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
    ['unreachable', aWorld(outOfContact())],
    ['growing', aWorld(wanting(5))],
  ])('of a %s cluster matches the schema of the CRD', (_, world) => {
    expect(etcdClusterStatus.strict().safeParse(written(world)).error).toBeUndefined();
  });

  it('stays the same without changes', () => {
    const status = written(aWorld());
    expect(improbable.writeStatus(findings(aWorld(), '2026-06-01T00:00:00Z'), status)).toEqual(status);
  });

  it('keeps the members but not the cluster version while no member answers, as in the original', () => {
    const status = written(aWorld(outOfContact()), written(aWorld()));
    expect(status.members).toHaveLength(3);
    expect(status.clusterVersion).toBe('');
    expect(status.members).toMatchObject([1, 2, 3].map(() => ({ healthy: false, leader: false })));
    expect(conditionOf(status, 'Available')).toMatchObject({ status: 'Unknown', reason: 'NoContact' });
  });

  it('has the alarms of a member, also on its EtcdPeer, until they are disarmed', () => {
    const raised = aWorld(withMember('db-1', { alarms: ['CORRUPT'] }));
    expect(written(raised).members?.map(({ alarms }) => alarms)).toEqual([undefined, ['CORRUPT'], undefined]);
    const member = raised.membership.seen ? raised.membership.value.members[1] : undefined;
    const before = { previous: undefined, generation: 1 };
    const first = writePeerStatus(member, before);
    expect(first.alarms).toEqual(['CORRUPT']);
    expect(writePeerStatus(member && { ...member, alarms: [] }, { ...before, previous: first }).alarms).toEqual([]);
    expect(writePeerStatus(member && { ...member, alarms: [] }, before)).not.toHaveProperty('alarms');
  });

  it('has the cluster version of the oldest member', () => {
    const status = written(aWorld(withMember('db-1', { version: '3.4.37' })), { serverVersion: '3.4.37' });
    expect(status).toMatchObject({ clusterVersion: '3.4.0', serverVersion: '3.4.37' });
  });

  it('changes lastTransitionTime with the status of a condition, and not with its message', () => {
    const before = written(aWorld(untouched()));
    const later = improbable.writeStatus(findings(aWorld(), '2026-01-01T00:05:00Z'), before) as EtcdClusterStatus;
    expect(conditionOf(later, 'Available')?.lastTransitionTime).toBe('2026-01-01T00:05:00Z');
    expect(conditionOf(later, 'Degraded')?.lastTransitionTime).toBe('2026-01-01T00:00:00Z');
  });

  it('of an invalid spec has the problems and the previous status', () => {
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
      { kind: 'start-member-pod', name: nameOf('db-0'), join: { as: 'joining', among: [] }, version: '3.5.35' },
    ],
    ['MemberAdded Added a new member with name "db-3"', { kind: 'add-member', name: nameOf('db-3'), as: 'learner' }],
    [
      'MemberRemoved Removed a member with name "db-3"',
      { kind: 'remove-member', id: 1n as MemberId, name: nameOf('db-3'), because: 'surplus' },
    ],
    ['PeerRemoved Removed EtcdPeer with name "db-3"', { kind: 'delete-member-pod', name: nameOf('db-3'), uid: 'u' }],
    [
      'ServiceCreated Created service with name "db-client"',
      { kind: 'create-object', object: clientService(readOf({ replicas: 1 }).blueprint), why: '' },
    ],
  ])('have the original’s text: %s', (text, step) => {
    expect(improbable.eventsOfStep(step).map(({ reason, message }) => `${reason} ${message}`)).toEqual([text]);
  });

  it('are not recorded for a restarting member', () => {
    const step = {
      kind: 'start-member-pod',
      name: nameOf('db-0'),
      join: { as: 'restarting' },
      version: '3.5.35',
    } as const;
    expect(improbable.eventsOfStep(step)).toEqual([]);
  });

  it('of a new version are recorded once the member runs it', () => {
    const [before, after] = [written(aWorld()), written(aWorld(withMember('db-1', { version: '3.6.16' })))];
    expect(improbable.eventsOfMembers(before, after)).toEqual([
      {
        ...{ type: 'Normal', reason: 'MemberUpgraded' },
        message: 'Upgraded the member with name "db-1" from 3.5.35 to 3.6.16',
      },
    ]);
    expect(improbable.eventsOfMembers(after, before)).toMatchObject([{ reason: 'MemberDowngraded' }]);
  });

  it('warn about an even number of members', () => {
    const { blueprint } = findings(aWorld());
    const even = { ...blueprint, intent: { ...blueprint.intent, size: 4 } };
    expect(improbable.eventsOfSpec(even)).toMatchObject([{ type: 'Warning', reason: 'EvenSize' }]);
    expect(improbable.eventsOfSpec(blueprint)).toEqual([]);
  });
});
