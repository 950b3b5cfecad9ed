import { type KnownWorld, type Member, type MemberPod, memberPodNamed } from '../../model/cluster.ts';
import { movingTo } from '../../model/version.ts';
import { needsReplacement, versionForUnhealthy } from '../roll/outdated.ts';
import { act, type Rule, type Verdict } from '../step.ts';
import { isUnreachableForLong, removeDeadMember } from './replace-dead-member.ts';
import { isSilentTooLong } from './unreachable.ts';

/**
 * Applies the spec to outdated unhealthy members before all others: they serve nothing, and the change may repair them.
 * A version that does not start is left by setting spec.version back.
 */
export const correctUnhealthy: Rule<KnownWorld> = (world) => {
  const down = world.membership.value.members.filter(({ health }) => health === 'silent' || health === 'lost');
  for (const member of down) {
    const memberPod = memberPodNamed(world, member.name);
    if (memberPod === undefined || !hasPod(memberPod) || mayServe(memberPod, member, world)) continue;
    const verdict = correct(memberPod, member, world);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
};

/**
 * True if a member may serve although it did not answer: one lost call proves nothing about a ready pod. While another
 * ready member is about to restart with its new image, no further member is stopped.
 */
const mayServe = ({ name, ready }: MemberPod, member: Member, { memberPods }: KnownWorld): boolean =>
  (ready && !isSilentTooLong(member)) ||
  memberPods.some((other) => other.isChanging === true && other.ready && other.name !== name);

const hasPod = ({ phase }: MemberPod): boolean => phase === 'starting' || phase === 'stuck' || phase === 'running';

function correct(memberPod: MemberPod, member: Member, world: KnownWorld): Verdict | undefined {
  const { name, uid, drift, volume, image, version: from } = memberPod;
  if (drift === 'pod' && volume === 'own' && !member.peerURLs.includes(world.intent.peerURLOf(name)))
    return changePeerUrl(member);
  if (drift === 'pod' && volume === 'own')
    return act('Rolling', `recreating pod ${name}`, { kind: 'stop-member-pod', name, uid });
  const to = versionForUnhealthy(memberPod, world);
  if (to === undefined || image === world.intent.imageOf(to)) return replaceOutdated(memberPod, member, world);
  return act('Upgrading', movingTo(world.intent.version, from), { kind: 'change-image', name, uid, from, to });
}

/** Some etcd versions promote a learner on MemberUpdate, so a learner is removed and added again instead. */
function changePeerUrl({ id, name, role }: Member): Verdict {
  if (role === 'voter') return act('Rolling', `updating peer URL of ${name}`, { kind: 'update-peer-url', id, name });
  const step = { kind: 'remove-member', id, name, because: 'outdated' } as const;
  return act('Rolling', `removing learner ${name}: its peer URL is outdated`, step);
}

/**
 * A pod without a PVC cannot be recreated with its data, so an outdated unreachable member is replaced. An unproven
 * template does not block this: the replacement gets the corrected template.
 */
function replaceOutdated(memberPod: MemberPod, member: Member, world: KnownWorld): Verdict | undefined {
  if (!isUnreachableForLong(member, memberPod, world) || !needsReplacement(member, world)) return undefined;
  return removeDeadMember(member, world.membership.value.members);
}
