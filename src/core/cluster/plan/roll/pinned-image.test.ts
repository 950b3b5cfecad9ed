import { describe, expect, it } from 'vitest';
import {
  aWorld,
  type Change,
  outOfContact,
  withIntent,
  withMember,
  withMemberPod,
} from '../../../../../test/support/worlds.ts';
import type { ClusterWorld } from '../../model/cluster.ts';
import { planCluster } from '../plan-cluster.ts';

const pinned = (version: string, digest: string): Change =>
  withIntent({ version, isPinned: true, imageOf: (tag) => `etcd:v${tag}${tag === version ? `@${digest}` : ''}` });
const names = ['db-0', 'db-1', 'db-2'];
const all =
  (change: (name: string) => Change): Change =>
  (world) =>
    names.reduce((before, name) => change(name)(before), world);
const allRun = (version: string, digest: string): Change =>
  all((name) => (world) => {
    const image = `etcd:v${version}@${digest}`;
    return withMember(name, { version })(withMemberPod(name, { version, image, readySince: 0 })(world));
  });
const minuteLater: Change = (world) => ({ ...world, now: world.now + 60_000 });

const steps = (world: ClusterWorld) => {
  const verdict = planCluster(world);
  return verdict.is === 'act' ? verdict.steps : verdict;
};

describe('a cluster whose image is pinned by digest', () => {
  it('rolls one member at a time when only the digest changes', () => {
    expect(steps(aWorld(allRun('3.5.35', 'a'), pinned('3.5.35', 'a')))).toEqual({ is: 'settled' });
    expect(steps(aWorld(allRun('3.5.35', 'a'), pinned('3.5.35', 'b')))).toMatchObject([
      { kind: 'change-image', name: 'db-1', from: '3.5.35', to: '3.5.35' },
    ]);
  });

  it('is upgraded to the next minor at once', () => {
    expect(steps(aWorld(allRun('3.5.35', 'a'), pinned('3.6.16', 'b')))).toMatchObject([
      { kind: 'change-image', from: '3.5.35', to: '3.6.16' },
    ]);
  });

  it.each([
    { from: '3.5.35', over: '3.6.16', to: '3.7.3' },
    { from: '3.5.20', over: '3.5.35', to: '3.6.16' },
    { from: '3.7.3', over: '3.6.16', to: '3.5.35' },
  ])('is not upgraded from $from to $to over $over, because its digest is unknown', ({ from, over, to }) => {
    expect(steps(aWorld(allRun(from, 'a'), pinned(to, 'b'), keepsImages))).toEqual({
      is: 'wait',
      reason: 'UpgradeRefused',
      message:
        `upgrade to ${to} needs the intermediate version ${over}, but the digest in the spec is that of ${to}: ` +
        `set spec.version to ${over} with its digest or without a digest, then to ${to} once all members run ${over}`,
    });
  });

  it('is not upgraded over such a version without quorum either', () => {
    const down = withMemberPod('db-1', { phase: 'stuck', ready: false, version: '3.5.20', image: 'etcd:v3.5.20@a' });
    const blind: Change = (world) => ({ ...world, memory: { ...world.memory, version: '3.5.20' } });
    expect(steps(aWorld(allRun('3.5.20', 'a'), pinned('3.6.16', 'b'), blind, down, outOfContact()))).toMatchObject({
      is: 'wait',
    });
  });
});

describe('an unhealthy member below the minimum patch of its minor, while others run the next minor', () => {
  const others = allRun('3.6.16', 'b');
  const old = { version: '3.5.20', image: 'etcd:v3.5.20@a', ready: false, unreadySince: 0, volume: 'own' as const };
  const down: Change = (world) =>
    withMember('db-2', { health: 'silent', version: undefined })(
      withMemberPod('db-2', { ...old, phase: 'stuck' })(world),
    );
  const gone = withMemberPod('db-2', { phase: 'gone' });

  it('gets the required patch by tag if the spec has no digest', () => {
    expect(steps(aWorld(others, down, withIntent({ version: '3.6.16' })))).toMatchObject([
      { kind: 'change-image', name: 'db-2', from: '3.5.20', to: '3.5.35' },
    ]);
  });

  it('does not get the required patch if the spec has a digest of another version', () => {
    expect(steps(aWorld(others, down, pinned('3.6.16', 'b')))).toMatchObject({ is: 'wait' });
  });

  it('restarts on its PVC with its old version if the spec has a digest of another version', () => {
    expect(steps(aWorld(others, down, gone, pinned('3.6.16', 'b')))).toMatchObject([
      { kind: 'start-member-pod', name: 'db-2', version: '3.5.20' },
    ]);
  });
});

/** Keeps the images of running versions, like the controller does. */
const keepsImages: Change = (world) => {
  const { imageOf, version } = world.intent;
  const kept = (tag: string): string => (tag === version ? imageOf(tag) : `${imageOf(tag)}@a`);
  return withIntent({ imageOf: kept })(world);
};

describe('a digest of another version than spec.version', () => {
  const wrong = [allRun('3.5.35', 'a'), withMemberPod('db-1', { version: '3.6.16', image: 'etcd:v3.6.16@a' })];

  it('stops the rollout at the first member, and the message names the remedy', () => {
    expect(steps(aWorld(...wrong, pinned('3.6.16', 'a'), minuteLater))).toEqual({
      is: 'wait',
      reason: 'WrongImage',
      needsUserAction: true,
      message:
        'member db-1 runs etcd 3.5.35, but its image etcd:v3.6.16@a should contain etcd 3.6.16: ' +
        'set spec.version to the version in the image, or correct the digest or the repository',
    });
  });

  it('is not reported while the kubelet may still be changing the image', () => {
    const changing = withMemberPod('db-1', { isChanging: true });
    expect(steps(aWorld(...wrong, changing, pinned('3.6.16', 'a'), minuteLater))).toMatchObject({
      reason: 'Upgrading',
    });
  });

  it.each([
    ['digest', pinned('3.6.16', 'b'), '3.6.16'],
    ['version', pinned('3.5.35', 'a'), '3.5.35'],
  ])('is corrected on that member only when the %s is corrected', (_, corrected, to) => {
    expect(steps(aWorld(...wrong, corrected, minuteLater))).toMatchObject([{ kind: 'change-image', name: 'db-1', to }]);
  });

  describe('on all members', () => {
    const allWrong = [
      allRun('3.5.35', 'a'),
      all((name) => withMemberPod(name, { version: '3.6.16', image: 'etcd:v3.6.16@a' })),
      pinned('3.6.16', 'b'),
      minuteLater,
    ];
    const hasCorrectImage = (name: string): Change => withMemberPod(name, { image: 'etcd:v3.6.16@b' });
    const isCorrected = (name: string): Change => {
      const runs = withMember(name, { version: '3.6.16' });
      return (world) => runs(hasCorrectImage(name)(world));
    };

    it.each(names)('is corrected on no other member while the pod of %s changes its image', (name) => {
      const changing = withMemberPod(name, { isChanging: true });
      expect(steps(aWorld(...allWrong, hasCorrectImage(name), changing))).toEqual({
        is: 'wait',
        reason: 'Upgrading',
        message: `waiting for member ${name} to run etcd 3.6.16`,
      });
    });

    it('is corrected on no other member until the corrected member has caught up', () => {
      const behind = withMember('db-1', { version: '3.6.16', raftIndex: 1n });
      const leader = withMember('db-0', { raftIndex: 9000n });
      const others = withMember('db-2', { raftIndex: 9000n });
      expect(steps(aWorld(...allWrong, isCorrected('db-1'), leader, others, behind))).toEqual({
        is: 'wait',
        reason: 'Upgrading',
        message: 'waiting for member db-1 to run etcd 3.6.16',
      });
    });

    it('is corrected on no other member if the correction is of another version too', () => {
      expect(steps(aWorld(...allWrong, hasCorrectImage('db-1')))).toMatchObject({
        reason: 'WrongImage',
        message: expect.stringContaining(
          'db-1 runs etcd 3.5.35, but its image etcd:v3.6.16@b should contain etcd 3.6.16',
        ),
      });
    });

    it('is corrected on followers one at a time, and on the leader last', () => {
      const change = { kind: 'change-image', from: '3.6.16', to: '3.6.16' };
      const [first, second] = [isCorrected('db-1'), isCorrected('db-2')];
      expect(steps(aWorld(...allWrong))).toMatchObject([{ ...change, name: 'db-1' }]);
      expect(steps(aWorld(...allWrong, first))).toMatchObject([{ ...change, name: 'db-2' }]);
      expect(steps(aWorld(...allWrong, first, second))).toMatchObject([{ kind: 'transfer-leadership' }]);
      const moved = [withMember('db-0', { leads: false }), withMember('db-1', { leads: true })];
      expect(steps(aWorld(...allWrong, first, second, ...moved))).toMatchObject([{ ...change, name: 'db-0' }]);
    });
  });
});
