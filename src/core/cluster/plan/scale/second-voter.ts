import type { KnownWorld, MemberPod, Membership } from '../../model/cluster.ts';
import { hasLearners } from '../../model/version.ts';
import { causeOf } from '../cause.ts';
import { isAsDesired, versionForJoiningMembers, wantedSize } from '../roll/outdated.ts';
import { act, type Rule, wait } from '../step.ts';
import { isUnreadyTooLong } from './start-joining-member.ts';

/**
 * Before etcd 3.4 a new member is a voter at once. In a cluster of one, the second voter raises the quorum to two
 * before it runs. If it never starts, it cannot be removed either. So its pod is started first. The member is added to
 * etcd only after the pod is scheduled, has its volume and has started its image.
 */
export const prepareSecondVoter: Rule<KnownWorld> = (world) => {
  if (!needsPreparation(world)) return undefined;
  const memberPod = preparedMemberPod(world);
  if (memberPod === undefined) return prepare(world, world.membership.value);
  if (mustBeRecreated(memberPod, world, world.membership.value)) {
    const { name, uid } = memberPod;
    return act('ScalingUp', `recreating pod ${name}`, { kind: 'stop-member-pod', name, uid });
  }
  if (!memberPod.hasRun)
    return (
      causeOf([memberPod]) ?? wait('MemberStarting', `waiting for the container of pod ${memberPod.name} to start`)
    );
  return act('ScalingUp', `Current cluster size: 1, desired cluster size: ${world.intent.size}`, {
    kind: 'add-member',
    name: memberPod.name,
    as: 'voter',
  });
};

/** Within this time the kubelet still restarts a failed container soon. */
const secondsToWait = 60;

/**
 * True if the pod is outdated, or if its container has failed for a while. The back-off of the kubelet would then delay
 * the next start by minutes, and the cluster would have no quorum for that time.
 */
function mustBeRecreated(memberPod: MemberPod, { intent }: KnownWorld, { members }: Membership): boolean {
  if (!isAsDesired(memberPod, versionForJoiningMembers(members, intent), intent)) return true;
  return memberPod.hasRun && memberPod.phase === 'stuck' && isUnreadyTooLong(memberPod, secondsToWait);
}

export function needsPreparation(world: KnownWorld): boolean {
  const { intent, membership } = world;
  if (wantedSize(world) < 2) return false;
  const [only, ...others] = membership.value.members;
  return only !== undefined && others.length === 0 && !hasLearners(only.version ?? intent.version);
}

/** A started member pod that has not been added to etcd yet. */
export function preparedMemberPod({ membership, memberPods }: KnownWorld): MemberPod | undefined {
  const listed = new Set(membership.value.members.map(({ name }) => name));
  const candidates = memberPods.filter((memberPod) => !memberPod.bootstrapForbidden && !listed.has(memberPod.name));
  return candidates.find(({ phase }) => phase === 'starting' || phase === 'stuck' || phase === 'running');
}

function prepare({ intent, spareNames }: KnownWorld, { members }: Membership): ReturnType<Rule> {
  const name = spareNames[0];
  if (name === undefined) return undefined;
  const known = members.map((member) => ({ name: member.name, peerURL: member.peerURLs[0] ?? '' }));
  const among = [...known, { name, peerURL: intent.peerURLOf(name) }];
  const version = versionForJoiningMembers(members, intent);
  return act('ScalingUp', `starting pod ${name} before its member is added`, {
    kind: 'start-member-pod',
    name,
    join: { as: 'joining', among },
    version,
  });
}
