import {
  type ClusterWorld,
  isKnown,
  type KnownWorld,
  type Member,
  type MemberPod,
} from '../../src/core/cluster/model/cluster.ts';
import type { ClusterIntent } from '../../src/core/cluster/model/intent.ts';
import type { MemberId, MemberName } from '../../src/core/cluster/model/names.ts';

export type Change = (world: ClusterWorld) => ClusterWorld;

/** A healthy cluster of three, with the changes of the test. */
export const aWorld = (...changes: readonly Change[]): ClusterWorld =>
  changes.reduce((world, change) => change(world), healthy(3));

/** The same for rules that need etcd's membership. */
export function aKnownWorld(...changes: readonly Change[]): KnownWorld {
  const world = aWorld(...changes);
  if (!isKnown(world)) throw new Error('this world has no membership');
  return world;
}

export const nameOf = (text: string): MemberName => text as MemberName;
export const imageOf = (version: string): string => `etcd:v${version}`;
export const peerURLOf = (name: MemberName): string => `http://${name}.db.default.svc:2380`;

export const wanting = (size: number): Change => withIntent({ size });
export const withIntent =
  (intent: Partial<ClusterIntent>): Change =>
  (w) => ({ ...w, intent: { ...w.intent, ...intent } });
export const outOfContact = (): Change => (w) => ({ ...w, membership: { seen: false, why: 'no member answers' } });
export const durable = (): Change => (w) => ({
  ...w,
  memberPods: w.memberPods.map((memberPod) => ({ ...memberPod, volume: 'own' })),
});

export const withMember =
  (name: string, change: Partial<Member>): Change =>
  (w) => ({
    ...w,
    membership: w.membership.seen
      ? {
          seen: true,
          value: {
            ...w.membership.value,
            members: w.membership.value.members.map((m) => (m.name === name ? { ...m, ...change } : m)),
          },
        }
      : w.membership,
  });

export const withMemberPod =
  (name: string, change: Partial<MemberPod>): Change =>
  (w) => ({
    ...w,
    memberPods: w.memberPods.map((memberPod) => (memberPod.name === name ? { ...memberPod, ...change } : memberPod)),
  });

export const withoutMemberPod =
  (name: string): Change =>
  (w) =>
    withMember(name, { health: 'silent', leads: false })({
      ...w,
      memberPods: w.memberPods.filter((memberPod) => memberPod.name !== name),
    });

/** The resource has just been created, and no step was taken. */
export const untouched = (): Change => (w) => ({
  ...outOfContact()(w),
  memory: { bootstrap: undefined, clusterId: undefined, voters: [], version: undefined },
  memberPods: [],
});

export function healthy(size: number): ClusterWorld {
  const names = Array.from({ length: size }, (_, i) => nameOf(`db-${i}`));
  return {
    now: Date.parse('2026-01-01T00:00:00Z'),
    intent: {
      name: 'db',
      namespace: 'default',
      uid: 'uid-1',
      size,
      version: '3.5.35',
      paused: false,
      memberNames: 'random',
      keepVolumesSeconds: 3600,
      replaceAfterSeconds: 300,
      peerURLOf,
      imageOf,
    },
    memory: { bootstrap: { members: names, token: 't' }, clusterId: 'c1', voters: names, version: '3.5.35' },
    memberPods: names.map(aMemberPod),
    membership: { seen: true, value: { clusterId: 'c1', members: names.map(aMember) } },
    secretProblems: [],
    spareNames: Array.from({ length: 9 }, (_, i) => nameOf(`db-new${i}`)),
  };
}

export const aMemberPod = (name: MemberName): MemberPod => ({
  name,
  uid: `uid-of-${name}`,
  phase: 'running',
  ready: true,
  why: '',
  hasRun: true,
  unreadySince: undefined,
  bootstrapForbidden: true,
  volume: 'with-pod',
  version: '3.5.35',
  image: imageOf('3.5.35'),
  template: 'today',
  drift: 'none',
});

export const aMember = (name: MemberName, index: number): Member => ({
  id: BigInt(index + 1) as MemberId,
  name,
  peerURLs: [peerURLOf(name)],
  role: 'voter',
  health: 'healthy',
  leads: index === 0,
  version: '3.5.35',
  raftIndex: 100n,
  storageVersion: undefined,
  downgradeTarget: undefined,
});
