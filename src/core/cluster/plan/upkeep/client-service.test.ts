import { describe, expect, it } from 'vitest';
import { anUpkeepWorld, readOf } from '../../../../../test/support/upkeep-worlds.ts';
import {
  aWorld,
  type Change,
  nameOf,
  outOfContact,
  withMember,
  withMemberPod,
} from '../../../../../test/support/worlds.ts';
import { servingLabel } from '../../../manifests/labels.ts';
import { act, type Verdict } from '../step.ts';
import { keepServing } from './client-service.ts';

const { blueprint } = readOf({ replicas: 3 });
const label = servingLabel(blueprint.naming);
const serving =
  (serves: boolean): Change =>
  (world) => ({ ...world, memberPods: world.memberPods.map((memberPod) => ({ ...memberPod, serves })) });
const settled: Verdict = { is: 'settled' };

/** The labels that are set, by member. */
const labelled = (verdict: Verdict, ...changes: readonly Change[]): readonly (readonly [string, unknown])[] =>
  keepServing({ ...anUpkeepWorld(blueprint, {}, aWorld(...changes)), verdict }).flatMap((step) =>
    step.kind === 'label-serving' ? [[step.name, step.labels[label]] as const] : [],
  );

describe('the label of the client Service', () => {
  it('is on healthy voters in sync', () => {
    expect(labelled(settled, serving(false))).toEqual([
      ['db-0', 'true'],
      ['db-1', 'true'],
      ['db-2', 'true'],
    ]);
    expect(labelled(settled, serving(true))).toEqual([]);
  });

  it('is not set on a member that is far behind', () =>
    expect(labelled(settled, serving(false), withMember('db-0', { raftIndex: 9_000n }))).toEqual([['db-0', 'true']]));

  it('is never on a learner', () => {
    const learner = withMember('db-1', { role: 'learner' });
    expect(labelled(settled, serving(true), learner)).toEqual([['db-1', null]]);
    expect(labelled(settled, serving(false), learner).map(([name]) => name)).toEqual(['db-0', 'db-2']);
  });

  it('is removed from a member that is about to stop', () =>
    expect(labelled({ is: 'wait', reason: 'Rolling', message: '', withdraws: nameOf('db-1') }, serving(true))).toEqual([
      ['db-1', null],
    ]));

  it('stays removed while the member is stopped, and comes back once it is healthy', () => {
    const stopped = withMemberPod('db-1', { serves: false });
    const stop = act('Rolling', '', { kind: 'stop-member-pod', name: nameOf('db-1'), uid: 'u' });
    expect(labelled(stop, serving(true), stopped)).toEqual([]);
    expect(labelled(settled, serving(true), stopped, withMember('db-1', { health: 'silent' }))).toEqual([]);
    expect(labelled(settled, serving(true), stopped)).toEqual([['db-1', 'true']]);
  });

  it('is kept on an unhealthy member, which readiness excludes', () =>
    expect(labelled(settled, serving(true), withMember('db-1', { health: 'silent' }))).toEqual([]));

  it('is left as it is while etcd is unreachable, and on pods that are not adopted yet', () => {
    expect(labelled(settled, serving(false), outOfContact())).toEqual([]);
    expect(labelled(settled, serving(true), withMemberPod('db-1', { serves: false, isForeign: true }))).toEqual([]);
  });
});
