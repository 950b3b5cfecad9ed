import type { ClusterWorld, MemberPod } from '../../model/cluster.ts';
import { minorOf, movingTo } from '../../model/version.ts';
import { routeFrom } from '../roll/outdated.ts';
import { isUnreadyTooLong } from '../scale/start-joining-member.ts';
import { act, type Rule, type Verdict } from '../step.ts';

/**
 * A cluster of one or two members has no quorum while one member cannot start. Such a member serves nothing, so the
 * current spec is applied to it: a mistake in the spec can be corrected without quorum. The version stays within the
 * minor of the pod, or the minor that all members ran before. Another minor needs quorum, because alarms, outdated
 * members and the required backup are unknown here.
 */
export const correctUnreachable: Rule = (world) => {
  if (world.membership.seen || world.memory.clusterId === undefined) return undefined;
  for (const memberPod of world.memberPods.filter((each) => !each.ready && isHeldUp(each, world))) {
    const verdict = correct(memberPod, world);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
};

/**
 * A pod status does not show every cause, for example a volume that cannot be mounted. So a time limit counts as well.
 */
function isHeldUp(memberPod: MemberPod, world: ClusterWorld): boolean {
  if (memberPod.phase === 'stuck') return true;
  const mayBegin =
    memberPod.phase === 'starting' || (memberPod.phase === 'running' && mayBeBlockedByTemplate(memberPod, world));
  return mayBegin && isUnreadyTooLong(memberPod, secondsToStart);
}

/**
 * True if the pod runs an outdated template and no pod is ready: the template may be the cause. If a pod were ready,
 * the cluster would have quorum, and only the operator could not reach it.
 */
const mayBeBlockedByTemplate = ({ drift, volume }: MemberPod, { memberPods }: ClusterWorld): boolean =>
  drift === 'pod' && volume === 'own' && memberPods.every(({ ready }) => !ready);

/** A pod that needs longer than this to start counts as blocked. */
const secondsToStart = 60;

function correct(memberPod: MemberPod, world: ClusterWorld): Verdict | undefined {
  const { name, uid, drift, volume, image, version: from } = memberPod;
  const { intent } = world;
  if (drift === 'pod' && volume === 'own')
    return act('Rolling', `recreating pod ${name}`, { kind: 'stop-member-pod', name, uid });
  const to = versionAfter(memberPod, world);
  if (to === undefined || image === intent.imageOf(to)) return undefined;
  return act('Upgrading', movingTo(intent.version, from), { kind: 'change-image', name, uid, from, to });
}

/**
 * The next version on the upgrade path from the remembered version, if it is in the minor of the pod or of the
 * remembered version. Otherwise the version stays, and only the image may change. A downgrade has to be enabled in etcd
 * first, which is impossible without quorum.
 */
function versionAfter({ version }: MemberPod, { intent, memory }: ClusterWorld): string | undefined {
  const route = routeFrom(memory.version === undefined ? [] : [memory.version], intent);
  const hop = route.passable ? route.hops[0] : undefined;
  if (hop === undefined) return undefined;
  const known = [version, memory.version ?? ''].map(minorOf);
  if (known.includes(minorOf(hop.version))) return hop.version;
  return hop.isDowngrade ? memory.version : version || undefined;
}
