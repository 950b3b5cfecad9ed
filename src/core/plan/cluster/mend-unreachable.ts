import type { Carrier, ClusterWorld } from '../../model/cluster.ts';
import { minorOf, movingTo } from '../../model/version.ts';
import { routeFrom } from './outdated.ts';
import { isOverdue } from './start-newcomer.ts';
import { act, type Rule, type Verdict } from './step.ts';

/**
 * One or two members have nobody to spare: when what they were given does not start, there is no majority to ask. A
 * member that cannot start has nothing to lose, so it is given what the spec says by now, within the minor that it was given or
 * that all ran before. So a mistake is corrected where it was made. Another minor waits for contact: alarms, members that have
 * not arrived and a required backup cannot be seen from here.
 */
export const mendUnreachable: Rule = (world) => {
  if (world.membership.seen || world.memory.clusterId === undefined) return undefined;
  for (const carrier of world.carriers.filter((each) => !each.ready && isHeldUp(each, world))) {
    const mended = mend(carrier, world);
    if (mended !== undefined) return mended;
  }
  return undefined;
};

/** Not of everything that holds a pod up is there a word in its status: of a volume that cannot be mounted there is none. */
function isHeldUp(carrier: Carrier, world: ClusterWorld): boolean {
  if (carrier.phase === 'stuck') return true;
  const mayBegin = carrier.phase === 'starting' || (carrier.phase === 'running' && isInVain(carrier, world));
  return mayBegin && isOverdue(carrier, secondsToStart);
}

/**
 * It runs, as something that is no longer asked for, and nobody is served: so it may be what keeps them from finding each
 * other. Were anybody ready, there would be a majority, and only we could not ask it.
 */
const isInVain = ({ drift, disk }: Carrier, { carriers }: ClusterWorld): boolean =>
  drift === 'pod' && disk === 'own' && carriers.every(({ ready }) => !ready);

/** Whoever takes longer than this to begin is not about to. */
const secondsToStart = 60;

function mend(carrier: Carrier, world: ClusterWorld): Verdict | undefined {
  const { name, uid, drift, disk, image, version: from } = carrier;
  const { intent } = world;
  if (drift === 'pod' && disk === 'own')
    return act('Rolling', `making the pod of ${name} again`, { kind: 'stop-carrier', name, uid });
  const to = versionAfter(carrier, world);
  if (to === undefined || image === intent.imageOf(to)) return undefined;
  return act('Upgrading', movingTo(intent.version, from), { kind: 'change-image', name, uid, from, to });
}

/**
 * The next version on the way from what all ran before, if it is in the minor of the pod or of what all ran. Otherwise the
 * version stays as it is, and only its image may be corrected. Going back needs etcd's leave, which cannot be asked for now.
 */
function versionAfter({ version }: Carrier, { intent, memory }: ClusterWorld): string | undefined {
  const route = routeFrom(memory.version === undefined ? [] : [memory.version], intent);
  const hop = route.passable ? route.hops[0] : undefined;
  if (hop === undefined) return undefined;
  const known = [version, memory.version ?? ''].map(minorOf);
  if (known.includes(minorOf(hop.version))) return hop.version;
  return hop.isDowngrade ? memory.version : version || undefined;
}
