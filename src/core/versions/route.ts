import { compareVersions, parseVersion, type Version } from '../model/version.ts';
import { faults, firstThatGoesBack, floorBeforeNext, newestOf } from './releases.ts';

/** The way from the versions that members run to the one that is wanted: what all of them run in turn, the last included. */
export type Route =
  | { readonly passable: true; readonly hops: readonly Hop[] }
  | { readonly passable: false; readonly says: string };

export interface Hop {
  readonly version: string;
  /** Whether etcd has to be told before the first member goes back. */
  readonly isDowngrade: boolean;
}

/**
 * etcd moves by one minor at a time, and data written by a newer minor is not read by an older one. While somebody still
 * runs the older of two minors nothing has been rewritten yet, and all may go back to it.
 */
export function routeTo(target: string, running: readonly string[]): Route {
  const wanted = parseVersion(target);
  const known = running.flatMap((text) => parseVersion(text) ?? []).toSorted(compareVersions);
  const [lowest, highest] = [known[0], known.at(-1)];
  if (wanted === undefined) return blocked(`${target} is no version of etcd`);
  if (lowest === undefined || highest === undefined) return direct(target);
  if (areSame(lowest, wanted) && areSame(highest, wanted)) return direct(textOf(wanted)); // whatever is known of it
  return refusalOf(wanted, lowest) ?? wayFrom(lowest, highest, wanted);
}

/**
 * With a digest the spec names the image of one version. A way over others is refused: their images would be taken by tag, which
 * is what a digest is to prevent.
 */
export function routeByDigest(route: Route): Route {
  if (!route.passable || route.hops.length < 2) return route;
  const versions = route.hops.map(({ version }) => version);
  const [first = '', last = ''] = [versions[0], versions.at(-1)];
  return blocked(
    `the way to etcd ${last} leads over ${versions.slice(0, -1).join(', ')}, and the digest in spec is of ${last} only: ` +
      `set spec.version to ${first}, with the digest of its image or without one, and to ${last} when all members run it`,
  );
}

const areSame = (a: Version, b: Version): boolean => compareVersions(a, b) === 0;

function refusalOf(wanted: Version, lowest: Version): Route | undefined {
  const fault = faultOf(wanted);
  if (fault?.refused === true)
    return blocked(`etcd ${textOf(wanted)} ${fault.says}: choose a later patch of ${minorOf(wanted)}`);
  if (wanted.major === lowest.major) return undefined;
  return blocked(`there is no way from etcd ${textOf(lowest)} to ${textOf(wanted)}`);
}

function wayFrom(lowest: Version, highest: Version, wanted: Version): Route {
  if (wanted.minor < lowest.minor) return wayBack(lowest, highest, wanted);
  if (wanted.minor < highest.minor || lowest.minor === wanted.minor) return direct(textOf(wanted));
  return wayForward(lowest, highest, wanted);
}

const blocked = (says: string): Route => ({ passable: false, says });
const direct = (version: string): Route => ({ passable: true, hops: [{ version, isDowngrade: false }] });

/** Where members run two minors already, all reach the higher one before the next is thought of. */
function wayForward(lowest: Version, highest: Version, wanted: Version): Route {
  const hasBegun = isUnderWay(lowest, highest);
  const at = hasBegun ? highest : lowest;
  const stops = hasBegun && highest.minor < wanted.minor ? [textOf(highest)] : [];
  const firstToVisit = at.minor < wanted.minor && isBelowFloor(at) ? at.minor : at.minor + 1;
  for (let minor = firstToVisit; minor < wanted.minor; minor += 1) {
    const newest = newestOf[`${at.major}.${minor}`];
    if (newest === undefined) return blocked(unknown(`${at.major}.${minor}`));
    stops.push(newest);
  }
  return { passable: true, hops: [...stops, textOf(wanted)].map((version) => ({ version, isDowngrade: false })) };
}

/**
 * A member below the floor of the lower minor holds all back to that minor until it has run the floor: no data has been
 * rewritten as long as it is there.
 */
const isUnderWay = (lowest: Version, highest: Version): boolean =>
  highest.minor > lowest.minor && !isBelowFloor(lowest);

function isBelowFloor(version: Version): boolean {
  const floor = parseVersion(floorBeforeNext[minorOf(version)] ?? '');
  return floor !== undefined && compareVersions(version, floor) < 0;
}

/** The patch of its own minor that a member has to run before it may run `to`; nothing if it may run that at once. */
export function floorOnTheWay(from: string, to: string): string | undefined {
  const [version, wanted] = [parseVersion(from), parseVersion(to)];
  if (version === undefined || wanted === undefined || wanted.minor <= version.minor) return undefined;
  return isBelowFloor(version) ? newestOf[minorOf(version)] : undefined;
}

const unknown = (minor: string): string =>
  `etcd ${minor} is not known here: set spec.version to a release of ${minor} first`;

/** Where members run two minors already, all reach the lower one before the next is thought of. */
function wayBack(lowest: Version, highest: Version, wanted: Version): Route {
  const oldest = { ...firstThatGoesBack, patch: 0 };
  const hasBegun = highest.minor > lowest.minor;
  const hops: Hop[] = hasBegun ? [{ version: textOf(lowest), isDowngrade: false }] : [];
  for (let minor = lowest.minor; minor > wanted.minor; minor -= 1) {
    if (minor < oldest.minor) return blocked(cannotGoBack(`${lowest.major}.${minor}`, textOf(wanted)));
    const version = minor - 1 === wanted.minor ? textOf(wanted) : newestOf[`${lowest.major}.${minor - 1}`];
    if (version === undefined) return blocked(unknown(`${lowest.major}.${minor - 1}`));
    hops.push({ version, isDowngrade: true });
  }
  return { passable: true, hops };
}

const cannotGoBack = (from: string, to: string): string =>
  `etcd ${from} cannot go back to ${to}, because it has rewritten its data: ` +
  'set spec.version to what runs now, or restore a backup that was made before into a new cluster';

const within = (version: Version, from: string, to: string): boolean => {
  const [first, last] = [parseVersion(from), parseVersion(to)];
  if (first === undefined || last === undefined) return false;
  return compareVersions(version, first) >= 0 && compareVersions(version, last) <= 0;
};

const faultOf = (version: Version) => faults.find(({ from, to }) => within(version, from, to));

/** Why no cluster is begun with a version; nothing if one may be. One that runs it is another matter. */
export function refusalToFound(text: string): string | undefined {
  const version = parseVersion(text);
  if (version === undefined) return undefined;
  if (version.major !== 3) return `etcd ${text} is none that can be looked after: choose a release of etcd 3`;
  const fault = faultOf(version);
  return fault?.refused === true
    ? `etcd ${text} ${fault.says}: choose a later patch of ${minorOf(version)}`
    : undefined;
}

/** What one should know before running a version; nothing when there is nothing to say. */
export function warningAbout(text: string): string | undefined {
  const version = parseVersion(text);
  const fault = version === undefined ? undefined : faultOf(version);
  return fault === undefined ? undefined : `etcd ${text} ${fault.says}: choose a later patch`;
}

const minorOf = ({ major, minor }: Version): string => `${major}.${minor}`;
const textOf = ({ major, minor, patch }: Version): string => `${major}.${minor}.${patch}`;
