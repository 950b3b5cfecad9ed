import { alarmsIn, areAlarmsUnknown, isCorrupt } from '../../model/alarms.ts';
import type { Carrier, ClusterWorld, Member } from '../../model/cluster.ts';
import { carrierNamed } from '../../model/cluster.ts';
import type { ClusterIntent } from '../../model/intent.ts';
import { compareVersions, isSameVersion, parseVersion } from '../../model/version.ts';
import { floorOnTheWay, type Hop, type Route, routeByDigest, routeTo } from '../../versions/route.ts';
import { usersInTheWay } from '../../versions/users.ts';

/** Whether a carrier is what would be made today for a member of that version. */
export const isAsDesired = ({ drift, image }: Carrier, version: string, { imageOf }: ClusterIntent): boolean =>
  drift !== 'pod' && drift !== 'disk' && image === imageOf(version);

/** The way from what healthy members run to what the spec says. */
export function routeOf({ membership, intent, hasUsers = false }: ClusterWorld): Route {
  if (hasUsers) return { passable: false, says: usersInTheWay(intent.version) };
  return routeFrom(runningVersions(membership.seen ? membership.value.members : []), intent);
}

/** The way from versions that run to what the spec says, with the images that it names. */
export function routeFrom(running: readonly string[], { version, isPinned = false }: ClusterIntent): Route {
  const route = routeTo(version, running);
  return isPinned ? routeByDigest(route) : route;
}

const runningVersions = (members: readonly Member[]): readonly string[] =>
  members.flatMap(({ health, version }) => (health === 'healthy' ? (version ?? []) : []));

/** The version that all members are led to next; nothing while there is no way. */
export function nextHop(world: ClusterWorld): Hop | undefined {
  const route = routeOf(world);
  return route.passable ? route.hops[0] : undefined;
}

/** A newcomer runs what has been seen to run: the newest of it, which reads what the others have written. */
export function versionForNewcomers(members: readonly Member[], { version }: Pick<ClusterIntent, 'version'>): string {
  const running = runningVersions(members).flatMap((text) => {
    const parsed = parseVersion(text);
    return parsed === undefined ? [] : [{ text, parsed }];
  });
  return running.toSorted((a, b) => compareVersions(b.parsed, a.parsed))[0]?.text ?? version;
}

/** Without a majority to ask, a way to go, or while members may differ in their data, it runs what it ran before. */
export function versionForReturner(carrier: Carrier, world: ClusterWorld): string {
  const before = carrier.version || world.memory.version || world.intent.version;
  const mayDiffer = isCorrupt(world) || areAlarmsUnknown(world);
  return world.membership.seen && !mayDiffer ? (versionForUnhealthy(carrier, world) ?? before) : before;
}

/** The version that is next, if it is of a minor that nobody runs yet, newer than all that run. */
export function nextMinor(world: ClusterWorld): string | undefined {
  const hop = nextHop(world);
  const running = runningVersions(world.membership.seen ? world.membership.value.members : []).map(minorIn);
  if (hop === undefined || hop.isDowngrade || running.length === 0) return undefined;
  return running.includes(minorIn(hop.version)) ? undefined : hop.version;
}

/** Whether a backup that was asked for is still to be made before anybody moves on. */
export const isToBeSaved = (world: ClusterWorld): boolean =>
  world.safeguard !== undefined && world.safeguard.state !== 'good' && nextMinor(world) !== undefined;

/**
 * The version to give to a member that is down; none while going back has not been allowed by all. Where its own version is
 * below the floor of its minor, that floor comes first, whatever the others run.
 */
export function versionForUnhealthy(carrier: Carrier, world: ClusterWorld): string | undefined {
  const hop = nextHop(world);
  if (hop === undefined || (isToBeSaved(world) && !hasNextMinor(carrier, world))) return undefined;
  if (hop.isDowngrade) return isDowngradeReady(hop, world) ? hop.version : undefined;
  const members = world.membership.seen ? world.membership.value.members : [];
  const to = mayGoAhead(carrier, world) ? hop.version : versionForNewcomers(members, world.intent);
  return overFloor(carrier, to, world.intent);
}

/** Whether a member was given the next minor already: then the backup before it was good at that time. */
const hasNextMinor = ({ version }: Carrier, world: ClusterWorld): boolean =>
  minorIn(version) === minorIn(nextMinor(world) ?? '');

/** With a digest the spec names the image of one version, so the image of the floor is not known: only its tag is. */
function overFloor(carrier: Carrier, to: string, { isPinned = false }: ClusterIntent): string | undefined {
  const floor = floorOnTheWay(carrier.version, to);
  if (floor === undefined) return to;
  return isPinned ? undefined : floor;
}

/**
 * A member that is down may be the first in another minor only if all members were seen to run the one before, at its floor or
 * later, and no alarm is raised. The version of its pod proves nothing: that version may never have started. A member that was
 * given the next minor earlier keeps it: all of this held when it was given.
 */
function mayGoAhead(carrier: Carrier, world: ClusterWorld): boolean {
  const next = nextMinor(world);
  if (next === undefined || hasNextMinor(carrier, world)) return true;
  const members = world.membership.seen ? world.membership.value.members : [];
  const { version: ranByAll = '' } = world.memory;
  const haveRunTheOneBefore = minorIn(ranByAll) === minorIn(versionForNewcomers(members, world.intent));
  return haveRunTheOneBefore && floorOnTheWay(ranByAll, next) === undefined && alarmsIn(world).length === 0;
}

/** Every member has been told to go back, and has made its data readable for the version it goes back to. */
export function isDowngradeReady({ version }: Hop, { membership }: ClusterWorld): boolean {
  const members = membership.seen ? membership.value.members : [];
  const goesTo = minorIn(version);
  const isTold = members.some(({ downgradeTarget }) => minorIn(downgradeTarget ?? '') === goesTo);
  const answering = members.filter(({ health }) => health === 'healthy');
  return isTold && answering.every(({ storageVersion }) => minorIn(storageVersion ?? '') === goesTo);
}

const minorIn = (version: string): string => version.split('.').slice(0, 2).join('.');

/** Its data cannot come along, so another member has to take its place first. */
export function needsNewPlace({ name }: Member, world: ClusterWorld): boolean {
  const carrier = carrierNamed(world, name);
  if (carrier === undefined) return false;
  return carrier.drift === 'disk' || (carrier.drift === 'pod' && carrier.disk !== 'own');
}

/** One more than the spec says, while somebody has to be replaced who still serves. */
export function wantedSize(world: ClusterWorld): number {
  const { membership, intent } = world;
  const isSurging =
    membership.seen &&
    membership.value.members.some((member) => member.health === 'healthy' && needsNewPlace(member, world));
  return intent.size + (isSurging ? 1 : 0);
}

/**
 * Whether nobody who is healthy was made as this one was. Then it is the change that keeps it from starting, and the next
 * one would fare no better: all stops, until somebody corrects what was changed.
 */
export function isFirstOfItsKind(carrier: Carrier, world: ClusterWorld): boolean {
  const members = world.membership.seen ? world.membership.value.members : [];
  const healthy = members.filter(({ health }) => health === 'healthy');
  return !healthy.some((member) => {
    const other = carrierNamed(world, member.name);
    return other !== undefined && isAlike(other, carrier) && isSameVersion(member.version, carrier.version);
  });
}

/** Made from the same, as far as it can matter to whether they work. */
export const isAlike = (one: Carrier, other: Carrier): boolean =>
  one.template === other.template && one.image === other.image && one.diskKind === other.diskKind;
