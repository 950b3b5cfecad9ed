import { type Carrier, type ClusterWorld, carrierNamed, type Member } from '../../model/cluster.ts';
import { versionForUnhealthy } from './outdated.ts';
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

function mend(carrier: Carrier, { id, peerURLs }: Member, world: ClusterWorld): Verdict | undefined {
  const { name, uid, drift, disk, image, version: from } = carrier;
  if (drift === 'pod' && disk === 'own' && !peerURLs.includes(world.intent.peerURLOf(name)))
    return act('Rolling', `telling the others where ${name} will be`, { kind: 'update-peer-url', id, name });
  if (drift === 'pod' && disk === 'own')
    return act('Rolling', `making the pod of ${name} again`, { kind: 'stop-carrier', name, uid });
  const to = versionForUnhealthy(world);
  if (to === undefined || image === world.intent.imageOf(to)) return undefined;
  return act('Upgrading', `upgrading to ${world.intent.version}`, { kind: 'change-image', name, uid, from, to });
}
