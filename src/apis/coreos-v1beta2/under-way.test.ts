import { describe, expect, it } from 'vitest';
import { findingsFor } from '../../../test/support/findings.ts';
import {
  aMember,
  aWorld,
  type Change,
  imageOf,
  nameOf,
  outOfContact,
  wanting,
  withIntent,
  withMember,
  withMemberPod,
} from '../../../test/support/worlds.ts';
import type { ClusterWorld } from '../../core/cluster/model/cluster.ts';
import { coreos } from './dialect.ts';
import type { EtcdClusterStatus } from './status.ts';

const findings = findingsFor(coreos, { size: 3, version: '3.5.35' });
const written = (world: ClusterWorld, previous: unknown = {}): EtcdClusterStatus =>
  coreos.writeStatus(findings(world), previous);
const conditionOf = (status: EtcdClusterStatus, type: string) =>
  status.conditions?.find((condition) => condition.type === type);

describe('Upgrading and Scaling', () => {
  const upTo = (version: string): Change => withIntent({ version });
  const given = (name: string, version: string): Change => withMemberPod(name, { version, image: imageOf(version) });
  const away = (name: string): Change => withMember(name, { health: 'silent', leads: false, version: undefined });
  const paused = withIntent({ paused: true });
  const corrupt = withMember('db-1', { alarms: ['CORRUPT'] });
  const noSpace = withMember('db-1', { alarms: ['NOSPACE'] });
  const joined =
    (role: 'learner' | 'voter'): Change =>
    (w) => ({
      ...w,
      memberPods: [
        ...w.memberPods,
        { ...(w.memberPods[0] as (typeof w.memberPods)[0]), name: nameOf('db-3'), uid: 'u3' },
      ],
      membership: w.membership.seen
        ? {
            seen: true,
            value: {
              ...w.membership.value,
              members: [...w.membership.value.members, { ...aMember(nameOf('db-3'), 3), role, raftIndex: 0n }],
            },
          }
        : w.membership,
    });

  it.each<[string, readonly Change[], string | undefined]>([
    ['the first member is changed', [upTo('3.6.16')], 'Cluster upgrading: upgrading to 3.6.16'],
    ['a member starts again', [upTo('3.6.16'), given('db-1', '3.6.16'), away('db-1')], 'upgrading to 3.6.16'],
    [
      'the last member starts again',
      [upTo('3.5.36'), ...['db-0', 'db-1', 'db-2'].map((name) => given(name, '3.5.36')), away('db-0')],
      'upgrading to 3.5.36',
    ],
    ['members go back', [upTo('3.5.34')], 'Cluster downgrading: downgrading to 3.5.34'],
    ['a member goes back that was alone', [given('db-1', '3.6.16'), away('db-1')], 'downgrading to 3.5.35'],
    ['the cluster is paused', [upTo('3.6.16'), paused], undefined],
    ['etcd cannot go there', [upTo('3.4.31')], undefined],
    ['an alarm blocks it', [upTo('3.6.16'), noSpace], undefined],
    ['members differ in their data halfway', [upTo('3.6.16'), given('db-1', '3.6.16'), corrupt], undefined],
    ['a member is added first', [upTo('3.6.16'), wanting(5)], undefined],
    [
      'a required backup failed',
      [upTo('3.6.16'), (w) => ({ ...w, preUpgradeBackup: { name: 'b', state: 'failed', why: '' } })],
      undefined,
    ],
    [
      'the majority is lost',
      [...[upTo('3.6.16'), given('db-1', '3.6.16'), outOfContact()], (w) => ({ ...w, withoutQuorumMillis: 9_000 })],
      undefined,
    ],
  ])('upgrading, while %s', (_, changes, expected) => {
    const status = written(aWorld(...changes));
    const { reason = '', message = '' } = conditionOf(status, 'Upgrading') ?? {};
    if (expected === undefined) expect(conditionOf(status, 'Upgrading')).toBeUndefined();
    else expect(`${reason}: ${message}`).toContain(expected);
    expect(status.targetVersion === '').toBe(expected === undefined);
  });

  it.each<[string, readonly Change[], string | undefined]>([
    ['a member is added', [wanting(4)], 'Scaling up Current cluster size: 3, desired cluster size: 4'],
    ['it catches up', [wanting(4), joined('learner')], 'Scaling up Current cluster size: 3, desired cluster size: 4'],
    ['a member is removed', [wanting(1)], 'Scaling down Current cluster size: 3, desired cluster size: 1'],
    [
      'a member that replaces another catches up',
      [withMemberPod('db-1', { drift: 'volume' }), joined('learner')],
      undefined,
    ],
    [
      'a member that joined is forbidden to start anew',
      [withMemberPod('db-1', { bootstrapForbidden: false })],
      undefined,
    ],
    ['the cluster is paused', [wanting(5), paused], undefined],
    ['members differ in their data', [wanting(5), corrupt], undefined],
  ])('scaling, while %s', (_, changes, expected) => {
    const { reason, message } = conditionOf(written(aWorld(...changes)), 'Scaling') ?? {};
    expect(reason === undefined ? undefined : `${reason} ${message}`).toBe(expected);
  });

  it.each<[string, readonly Change[], string]>([
    ['a member is added', [wanting(4)], 'True ScalingUp'],
    ['the cluster is paused', [wanting(4), paused], 'False Paused'],
    ['etcd cannot go to a version', [upTo('3.4.31')], 'False UpgradeRefused'],
    ['members differ in their data', [wanting(4), corrupt], 'False AlarmRaised'],
    ['the majority has just stopped answering', [outOfContact()], 'True NoContact'],
    [
      'the majority has not answered for a while',
      [outOfContact(), (w) => ({ ...w, withoutQuorumMillis: 9_000 })],
      'False NoContact',
    ],
    ['nothing is left to do', [], 'False AsDesired'],
  ])('progress, while %s', (_, changes, expected) => {
    const { status, reason } = conditionOf(written(aWorld(...changes)), 'Progressing') ?? {};
    expect(`${status} ${reason}`).toBe(expected);
  });
});

describe('Events about versions', () => {
  const runs = (version: string | undefined, id = 2n): Change =>
    withMember('db-1', { version, id: id as never, health: version === undefined ? 'silent' : 'healthy' });
  const toldAfter = (...passes: readonly (readonly Change[])[]): readonly string[] => {
    let before: object = {};
    return passes.flatMap((changes) => {
      const status = written(aWorld(...changes), before);
      const events = coreos.eventsOfMembers(before, status);
      before = status;
      return events.map(({ reason, message }) => `${reason}: ${message}`);
    });
  };

  it('are recorded once the member runs the version, and not when its image changes', () => {
    expect(toldAfter([], [withMemberPod('db-1', { version: '3.6.16' })], [runs(undefined)])).toEqual([]);
    expect(toldAfter([], [runs(undefined)], [outOfContact()], [runs('3.6.16')], [runs('3.6.16')])).toEqual([
      'Member Upgraded: Member db-1 upgraded from 3.5.35 to 3.6.16 ',
    ]);
  });

  it('of a lower version are downgrades', () => {
    expect(toldAfter([], [runs('3.5.34')])).toEqual([
      'Member Downgraded: Member db-1 downgraded from 3.5.35 to 3.5.34',
    ]);
  });

  it('are not recorded for a new member with the same name', () => {
    expect(toldAfter([], [runs('3.6.16', 9n)])).toEqual([]);
  });
});
