import { type ClusterWorld, isInherited, type MemberPod } from '../../model/cluster.ts';
import { hasFormedUnrecorded } from '../bootstrap/has-formed.ts';
import { versionForRestartingMember } from '../roll/outdated.ts';
import { joinAmong } from '../scale/start-joining-member.ts';
import { act, type Join, type MemberStep, type Rule } from '../step.ts';

/**
 * Restarts a member on its PVC, under its own name, without a change of membership. This needs no answer from etcd, so
 * it also works when all pods are gone.
 */
export const restartOnOwnVolume: Rule = (world) => {
  if (!mayReturn(world)) return undefined;
  const returning = world.memberPods.filter((memberPod) => memberPod.volume === 'own' && mayBeMember(memberPod, world));
  const steps = returning.flatMap((memberPod) => stepFor(memberPod, world));
  if (steps.length === 0) return undefined;
  return act('MemberReturning', `restarting ${steps.map(({ name }) => name).join(', ')} on its own volume`, ...steps);
};

/** Members of a cluster that another operator created are restarted only if none of its pods runs. */
function mayReturn(world: ClusterWorld): boolean {
  const { memory, legacyReplicaSets = [], memberPods } = world;
  if (memory.clusterId !== undefined || hasFormedUnrecorded(world)) return true;
  return (
    isInherited(memory) && legacyReplicaSets.length === 0 && memberPods.every((each) => !each.isForeign || isDown(each))
  );
}

const isDown = ({ phase }: MemberPod): boolean => phase === 'gone' || phase === 'ended';

function mayBeMember(memberPod: MemberPod, { membership }: ClusterWorld): boolean {
  if (!membership.seen) return true;
  const member = membership.value.members.find(({ name }) => name === memberPod.name);
  return member !== undefined && member.health !== 'never-started';
}

function stepFor(memberPod: MemberPod, world: ClusterWorld): readonly (MemberStep & { readonly name: string })[] {
  const { name, uid, phase } = memberPod;
  const version = versionForRestartingMember(memberPod, world);
  if (phase === 'gone') return [{ kind: 'start-member-pod', name, join: joinOf(memberPod, world), version }];
  return phase === 'ended' ? [{ kind: 'stop-member-pod', name, uid }] : [];
}

/** A bootstrap member that has never served may have an empty PVC. It then joins the cluster that formed without it. */
function joinOf({ name }: MemberPod, { membership }: ClusterWorld): Join {
  const members = (membership.seen ? membership.value : membership.unconfirmed)?.members ?? [];
  const isLate = members.some((member) => member.name === name && member.hasNeverServed === true);
  return isLate ? joinAmong(members) : { as: 'restarting' };
}
