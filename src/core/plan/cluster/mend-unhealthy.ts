import { type Carrier, type ClusterWorld, carrierNamed, type Member } from '../../model/cluster.ts';
import { movingTo } from '../../model/version.ts';
import { needsNewPlace, versionForUnhealthy } from './outdated.ts';
import { giveUp, isGoneForLong } from './replace-dead-member.ts';
import { act, type Rule, type Verdict } from './step.ts';

/**
 * A member that is down and not what the spec says is changed before anybody else: it has nothing to lose, and perhaps
 * the change is what helps it. So a version that does not start is left by setting the version back.
 */
export const mendUnhealthy: Rule = (world) => {
  const { membership } = world;
  if (!membership.seen) return undefined;
  const down = membership.value.members.filter(({ health }) => health === 'silent' || health === 'lost');
  for (const member of down) {
    const carrier = carrierNamed(world, member.name);
    const mended = carrier === undefined || !hasPod(carrier) ? undefined : mend(carrier, member, world);
    if (mended !== undefined) return mended;
  }
  return undefined;
};

const hasPod = ({ phase }: Carrier): boolean => phase === 'starting' || phase === 'stuck' || phase === 'running';

function mend(carrier: Carrier, member: Member, world: ClusterWorld): Verdict | undefined {
  const { name, uid, drift, disk, image, version: from } = carrier;
  if (drift === 'pod' && disk === 'own' && !member.peerURLs.includes(world.intent.peerURLOf(name))) return move(member);
  if (drift === 'pod' && disk === 'own')
    return act('Rolling', `making the pod of ${name} again`, { kind: 'stop-carrier', name, uid });
  const to = versionForUnhealthy(carrier, world);
  if (to === undefined || image === world.intent.imageOf(to)) return replaceOutdated(carrier, member, world);
  return act('Upgrading', movingTo(world.intent.version, from), { kind: 'change-image', name, uid, from, to });
}

/** Many an etcd gives a learner its vote when it is told where the learner will be, so such a one is added again instead. */
function move({ id, name, role }: Member): Verdict {
  if (role === 'voter')
    return act('Rolling', `telling the others where ${name} will be`, { kind: 'update-peer-url', id, name });
  const step = { kind: 'remove-member', id, name, because: 'outdated' } as const;
  return act('Rolling', `removing ${name}, which has no vote yet and will be elsewhere`, step);
}

/**
 * What was corrected meanwhile cannot reach a body that its data would not outlive. That nobody else was made as this one was
 * is no reason to wait for it any more: the next one will not be either.
 */
function replaceOutdated(carrier: Carrier, member: Member, world: ClusterWorld): Verdict | undefined {
  const { membership } = world;
  if (!membership.seen || !isGoneForLong(member, carrier, world) || !needsNewPlace(member, world)) return undefined;
  return giveUp(member, membership.value.members);
}
