import { describe, expect, it } from 'vitest';
import {
  aWorld,
  type Change,
  outOfContact,
  withCarrier,
  withIntent,
  withMember,
} from '../../../../test/support/worlds.ts';
import type { ClusterWorld } from '../../model/cluster.ts';
import { planCluster } from './plan-cluster.ts';

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
    return withMember(name, { version })(withCarrier(name, { version, image, readySince: 0 })(world));
  });
const minuteLater: Change = (world) => ({ ...world, now: world.now + 60_000 });

const steps = (world: ClusterWorld) => {
  const verdict = planCluster(world);
  return verdict.is === 'act' ? verdict.steps : verdict;
};

describe('a cluster whose image is pinned by digest', () => {
  it('rolls one member after the other when only the digest changes', () => {
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
  ])('is not led from $from over $over, whose digest is not known, to $to', ({ from, over, to }) => {
    expect(steps(aWorld(allRun(from, 'a'), pinned(to, 'b'), keepsImages))).toEqual({
      is: 'wait',
      reason: 'UpgradeRefused',
      message:
        `the way to etcd ${to} leads over ${over}, and the digest in spec is of ${to} only: ` +
        `set spec.version to ${over}, with the digest of its image or without one, and to ${to} when all members run it`,
    });
  });

  it('is not led there without contact to etcd either', () => {
    const down = withCarrier('db-1', { phase: 'stuck', ready: false, version: '3.5.20', image: 'etcd:v3.5.20@a' });
    const blind: Change = (world) => ({ ...world, memory: { ...world.memory, version: '3.5.20' } });
    expect(steps(aWorld(allRun('3.5.20', 'a'), pinned('3.6.16', 'b'), blind, down, outOfContact()))).toMatchObject({
      is: 'wait',
    });
  });
});

describe('a member that is down below the floor of its minor, while others run the next minor', () => {
  const others = allRun('3.6.16', 'b');
  const old = { version: '3.5.20', image: 'etcd:v3.5.20@a', ready: false, unreadySince: 0, disk: 'own' as const };
  const down: Change = (world) =>
    withMember('db-2', { health: 'silent', version: undefined })(
      withCarrier('db-2', { ...old, phase: 'stuck' })(world),
    );
  const gone = withCarrier('db-2', { phase: 'gone' });

  it('is given the floor by tag where the spec has no digest', () => {
    expect(steps(aWorld(others, down, withIntent({ version: '3.6.16' })))).toMatchObject([
      { kind: 'change-image', name: 'db-2', from: '3.5.20', to: '3.5.35' },
    ]);
  });

  it('is not given the floor where the spec has a digest of another version', () => {
    expect(steps(aWorld(others, down, pinned('3.6.16', 'b')))).toMatchObject({ is: 'wait' });
  });

  it('returns to its volume with the version that it ran, where the spec has a digest of another version', () => {
    expect(steps(aWorld(others, down, gone, pinned('3.6.16', 'b')))).toMatchObject([
      { kind: 'start-carrier', name: 'db-2', version: '3.5.20' },
    ]);
  });
});

/** As the controller does for versions that members run. */
const keepsImages: Change = (world) => {
  const { imageOf, version } = world.intent;
  const kept = (tag: string): string => (tag === version ? imageOf(tag) : `${imageOf(tag)}@a`);
  return withIntent({ imageOf: kept })(world);
};

describe('a digest of another version than the spec says', () => {
  const wrong = [allRun('3.5.35', 'a'), withCarrier('db-1', { version: '3.6.16', image: 'etcd:v3.6.16@a' })];

  it('stops at the first member, and the message says what to correct', () => {
    expect(steps(aWorld(...wrong, pinned('3.6.16', 'a'), minuteLater))).toEqual({
      is: 'wait',
      reason: 'WrongImage',
      needsPerson: true,
      message:
        'db-1 runs etcd 3.5.35, and its image etcd:v3.6.16@a was to be etcd 3.6.16: ' +
        'set spec.version to what the image is of, or correct the digest or the repository',
    });
  });

  it('is waited with while the kubelet may still be changing the image', () => {
    const changing = withCarrier('db-1', { isChanging: true });
    expect(steps(aWorld(...wrong, changing, pinned('3.6.16', 'a'), minuteLater))).toMatchObject({
      reason: 'Upgrading',
    });
  });

  it.each([
    ['digest', pinned('3.6.16', 'b'), '3.6.16'],
    ['version', pinned('3.5.35', 'a'), '3.5.35'],
  ])('is left by that member alone when the %s is corrected', (_, corrected, to) => {
    expect(steps(aWorld(...wrong, corrected, minuteLater))).toMatchObject([{ kind: 'change-image', name: 'db-1', to }]);
  });

  describe('on all members', () => {
    const allWrong = [
      allRun('3.5.35', 'a'),
      all((name) => withCarrier(name, { version: '3.6.16', image: 'etcd:v3.6.16@a' })),
      pinned('3.6.16', 'b'),
      minuteLater,
    ];
    const hasCorrectImage = (name: string): Change => withCarrier(name, { image: 'etcd:v3.6.16@b' });
    const isCorrected = (name: string): Change => {
      const runs = withMember(name, { version: '3.6.16' });
      return (world) => runs(hasCorrectImage(name)(world));
    };

    it.each(names)('is corrected on no other member while the pod of %s changes its image', (name) => {
      const changing = withCarrier(name, { isChanging: true });
      expect(steps(aWorld(...allWrong, hasCorrectImage(name), changing))).toEqual({
        is: 'wait',
        reason: 'Upgrading',
        message: `waiting for ${name} to run 3.6.16`,
      });
    });

    it('is corrected on no other member until the corrected member has caught up', () => {
      const behind = withMember('db-1', { version: '3.6.16', raftIndex: 1n });
      const leader = withMember('db-0', { raftIndex: 9000n });
      const others = withMember('db-2', { raftIndex: 9000n });
      expect(steps(aWorld(...allWrong, isCorrected('db-1'), leader, others, behind))).toEqual({
        is: 'wait',
        reason: 'Upgrading',
        message: 'waiting for db-1 to run 3.6.16',
      });
    });

    it('is corrected on no other member if the correction is of another version too', () => {
      expect(steps(aWorld(...allWrong, hasCorrectImage('db-1')))).toMatchObject({
        reason: 'WrongImage',
        message: expect.stringContaining('db-1 runs etcd 3.5.35, and its image etcd:v3.6.16@b was to be etcd 3.6.16'),
      });
    });

    it('is corrected on followers one after the other, and on the leader last', () => {
      const change = { kind: 'change-image', from: '3.6.16', to: '3.6.16' };
      const [first, second] = [isCorrected('db-1'), isCorrected('db-2')];
      expect(steps(aWorld(...allWrong))).toMatchObject([{ ...change, name: 'db-1' }]);
      expect(steps(aWorld(...allWrong, first))).toMatchObject([{ ...change, name: 'db-2' }]);
      expect(steps(aWorld(...allWrong, first, second))).toMatchObject([{ kind: 'move-leader' }]);
      const moved = [withMember('db-0', { leads: false }), withMember('db-1', { leads: true })];
      expect(steps(aWorld(...allWrong, first, second, ...moved))).toMatchObject([{ ...change, name: 'db-0' }]);
    });
  });
});
