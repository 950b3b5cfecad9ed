import { describe, expect, it } from 'vitest';
import { findingsFor } from '../../../test/support/findings.ts';
import {
  aWorld,
  type Change,
  outOfContact,
  untouched,
  wanting,
  withMember,
  withoutMemberPod,
} from '../../../test/support/worlds.ts';
import type { ClusterWorld } from '../../core/cluster/model/cluster.ts';
import { coreos } from './dialect.ts';
import type { EtcdClusterStatus } from './status.ts';

const findings = findingsFor(coreos, { size: 3, version: '3.5.35' });
const written = (world: ClusterWorld, previous: unknown = {}): EtcdClusterStatus =>
  coreos.writeStatus(findings(world), previous);
const conditionOf = (status: EtcdClusterStatus, type: string) =>
  status.conditions?.find((condition) => condition.type === type);

describe('the status of a cluster', () => {
  it('of a healthy cluster has the original’s fields', () => {
    expect(written(aWorld())).toMatchObject({
      phase: 'Running',
      size: 3,
      members: { ready: ['db-0', 'db-1', 'db-2'], unready: [] },
      currentVersion: '3.5.35',
      targetVersion: '',
      serviceName: 'db-client',
      clientPort: 2379,
      observedGeneration: 7,
    });
    expect(conditionOf(written(aWorld()), 'Available')).toMatchObject({
      status: 'True',
      reason: 'Cluster available',
      message: '',
    });
    expect(conditionOf(written(aWorld()), 'Scaling')).toBeUndefined();
  });

  it('stays the same without changes', () => {
    const first = written(aWorld());
    expect(coreos.writeStatus(findings(aWorld(), '2026-06-01T00:00:00Z'), first)).toEqual(first);
  });

  it('of an unreachable cluster without ready pods is Available=False', () => {
    const down: Change = (w) => ({ ...w, memberPods: w.memberPods.map((each) => ({ ...each, ready: false })) });
    expect(conditionOf(written(aWorld(outOfContact(), down), written(aWorld())), 'Available')).toMatchObject({
      status: 'False',
      reason: 'NoContact',
    });
  });

  it('of an unreachable cluster with ready pods is Available=Unknown', () => {
    expect(conditionOf(written(aWorld(outOfContact()), written(aWorld())), 'Available')).toMatchObject({
      status: 'Unknown',
      reason: 'NoContact',
      message: expect.stringContaining('the pods of all members are ready, but the operator cannot reach etcd'),
    });
  });

  it('keeps the members from the original’s status, also when all their pods are gone', () => {
    const byOriginal = { phase: 'Running', size: 3, members: { ready: ['db-a', 'db-b'], unready: ['db-c'] } };
    const memoryIn = (status: object) => {
      const found = coreos.read({
        metadata: { name: 'db', namespace: 'default', uid: 'u' },
        spec: { size: 3 },
        status,
      });
      if (!found.ok) throw new Error('unreadable');
      return found.value.memory;
    };
    const memory = memoryIn(byOriginal);
    const status = written(
      aWorld(untouched(), (w) => ({ ...w, memory })),
      byOriginal,
    );
    expect(status).toMatchObject({ phase: 'Failed', members: { ready: [], unready: [] } });
    expect(memoryIn(status).voters).toEqual(['db-a', 'db-b', 'db-c']);
    expect(conditionOf(status, 'Degraded')).toMatchObject({ status: 'True', reason: 'QuorumLost' });
  });

  it('is Available=False while no pod is ready', () => {
    const unready = aWorld((world) => ({
      ...world,
      memberPods: world.memberPods.map((memberPod) => ({ ...memberPod, ready: false, unreadySince: world.now })),
    }));
    expect(conditionOf(written(unready), 'Available')).toMatchObject({ status: 'False', reason: 'NotReady' });
  });

  it('keeps the members while no member answers, with none healthy and none leader', () => {
    const before = written(aWorld());
    const lasting = before.memberStatus?.map((member) => ({ ...member, healthy: false, leader: false }));
    expect(written(aWorld(outOfContact()), before).memberStatus).toEqual(lasting);
  });

  it('keeps the version of a member that does not answer, but not its health and leadership', () => {
    const away = withMember('db-0', { health: 'silent', leads: true, version: undefined });
    expect(written(aWorld(away), written(aWorld())).memberStatus?.[0]).toEqual({
      ...{ name: 'db-0', id: '1', role: 'voter', version: '3.5.35' },
      ...{ healthy: false, leader: false },
    });
  });

  it('has the alarms of a member', () => {
    const states = written(aWorld(withMember('db-1', { alarms: ['NOSPACE'] }))).memberStatus;
    expect(states?.map(({ alarms }) => alarms)).toEqual([undefined, ['NOSPACE'], undefined]);
  });

  it('is Creating before the cluster has formed, and has the bootstrap members', () => {
    const status = written(aWorld(untouched()));
    expect(status).toMatchObject({
      phase: 'Creating',
      bootstrap: { members: ['db-new0', 'db-new1', 'db-new2'], token: 'default.db.uid-1' },
    });
    expect(conditionOf(status, 'Scaling')).toMatchObject({
      reason: 'Scaling up',
      message: 'Current cluster size: 0, desired cluster size: 3',
    });
  });

  it("has the original's condition Scaling", () => {
    expect(conditionOf(written(aWorld(wanting(5))), 'Scaling')).toMatchObject({
      reason: 'Scaling up',
      message: 'Current cluster size: 3, desired cluster size: 5',
    });
    expect(conditionOf(written(aWorld(wanting(1))), 'Scaling')).toMatchObject({ reason: 'Scaling down' });
  });

  it('is Failed, with the reason, only while manual action is needed', () => {
    const lost: ClusterWorld = { ...aWorld(outOfContact()), memberPods: [] };
    expect(written(lost)).toMatchObject({ phase: 'Failed', reason: expect.stringContaining('restore a backup') });
    expect(written(aWorld(), written(lost))).toMatchObject({ phase: 'Running' });
    expect(written(aWorld(), written(lost)).reason).toBeUndefined();
  });

  it('is Failed while quorum is lost for long, and Running while only the operator cannot reach etcd', () => {
    const forLong: Change = (w) => ({ ...w, withoutQuorumMillis: 20_000 });
    const down: Change = (w) => ({ ...w, memberPods: w.memberPods.map((each) => ({ ...each, ready: false })) });
    expect(written(aWorld(outOfContact(), forLong, down))).toMatchObject({
      phase: 'Failed',
      reason: expect.stringContaining('3 of 3 members unreachable'),
    });
    expect(written(aWorld(outOfContact(), forLong))).toMatchObject({ phase: 'Running' });
    expect(written(aWorld(outOfContact(), down))).toMatchObject({ phase: 'Running' });
  });

  it('is Running while a member is replaced', () => {
    expect(written(aWorld(withoutMemberPod('db-1')))).toMatchObject({ phase: 'Running', size: 3 });
  });

  it('of an invalid spec has the problems and the previous status', () => {
    const before = written(aWorld());
    const status = coreos.writeProblems('spec.size: must be from 1 to 9', before, new Date()) as EtcdClusterStatus;
    expect(status).toMatchObject({
      phase: 'Running',
      reason: 'spec.size: must be from 1 to 9',
    });
    expect(status.memberStatus?.[0]).toEqual({ name: 'db-0', id: '1', role: 'voter', version: '3.5.35' });
    expect(conditionOf(status, 'Degraded')).toMatchObject({
      status: 'True',
      reason: 'BadSpec',
      message: 'spec.size: must be from 1 to 9',
    });
    expect(conditionOf(before, 'Available')).toMatchObject({ status: 'True' });
    expect(conditionOf(status, 'Available')).toMatchObject({ status: 'Unknown', reason: 'BadSpec' });
  });
});
