import type { Carrier, ClusterWorld } from '../../model/cluster.ts';
import { routeTo } from '../../versions/route.ts';
import { act, type Rule, type Verdict } from './step.ts';

/**
 * One or two members have nobody to spare: when what they were given does not start, there is no majority to ask. A
 * member that cannot start has nothing to lose, so it is given what the spec says by now, if that can follow what all ran
 * before. So a mistake is corrected where it was made.
 */
export const mendUnreachable: Rule = (world) => {
  if (world.membership.seen || world.memory.clusterId === undefined) return undefined;
  for (const carrier of world.carriers.filter(({ phase, ready }) => phase === 'stuck' && !ready)) {
    const mended = mend(carrier, world);
    if (mended !== undefined) return mended;
  }
  return undefined;
};

function mend({ name, uid, drift, disk, image, version: from }: Carrier, world: ClusterWorld): Verdict | undefined {
  const { intent } = world;
  if (drift === 'pod' && disk === 'own')
    return act('Rolling', `making the pod of ${name} again`, { kind: 'stop-carrier', name, uid });
  const to = versionAfter(world);
  if (to === undefined || image === intent.imageOf(to)) return undefined;
  return act('Upgrading', `upgrading to ${intent.version}`, { kind: 'change-image', name, uid, from, to });
}

/** The next version on the way from what all ran before; going back needs etcd's leave, which nobody can give now. */
function versionAfter({ intent, memory }: ClusterWorld): string | undefined {
  const route = routeTo(intent.version, memory.version === undefined ? [] : [memory.version]);
  const hop = route.passable ? route.hops[0] : undefined;
  return hop?.isDowngrade === true ? undefined : hop?.version;
}
