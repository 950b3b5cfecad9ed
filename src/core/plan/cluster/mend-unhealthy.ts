import { type Carrier, type ClusterWorld, carrierNamed } from '../../model/cluster.ts';
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
  const carriers = down.flatMap(({ name }) => carrierNamed(world, name) ?? []);
  for (const carrier of carriers.filter(hasPod)) {
    const mended = mend(carrier, world);
    if (mended !== undefined) return mended;
  }
  return undefined;
};

const hasPod = ({ phase }: Carrier): boolean => phase === 'starting' || phase === 'stuck' || phase === 'running';

function mend({ name, uid, drift, disk, image, version: from }: Carrier, world: ClusterWorld): Verdict | undefined {
  if (drift === 'pod' && disk === 'own')
    return act('Rolling', `making the pod of ${name} again`, { kind: 'stop-carrier', name, uid });
  const to = versionForUnhealthy(world);
  if (to === undefined || image === world.intent.imageOf(to)) return undefined;
  return act('Upgrading', `upgrading to ${world.intent.version}`, { kind: 'change-image', name, uid, from, to });
}
