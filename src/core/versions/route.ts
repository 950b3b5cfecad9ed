import { compareVersions, parseVersion, type Version } from '../cluster/model/version.ts';
import { faults, firstWithDowngrade, floorBeforeNext, newestOf } from './releases.ts';

/** The upgrade path from the running versions to the wanted version, which is the last hop. */
export type Route =
  | { readonly passable: true; readonly hops: readonly Hop[] }
  | { readonly passable: false; readonly why: string };

export interface Hop {
  readonly version: string;
  /** True if the downgrade must be enabled in etcd before the first member changes. */
  readonly isDowngrade: boolean;
}

/**
 * etcd upgrades one minor at a time, and an older minor cannot read data of a newer minor. While a member still runs
 * the older of two minors, no data has been converted yet, and all members may return to it.
 */
export function routeTo(target: string, running: readonly string[]): Route {
  const wanted = parseVersion(target);
  const known = running.flatMap((text) => parseVersion(text) ?? []).toSorted(compareVersions);
  const [lowest, highest] = [known[0], known.at(-1)];
  if (wanted === undefined) return blocked(`${target} is no version of etcd`);
  if (lowest === undefined || highest === undefined) return direct(target);
  if (areSame(lowest, wanted) && areSame(highest, wanted)) return direct(textOf(wanted)); // even with a known fault
  return refusalOf(wanted, lowest) ?? wayFrom(lowest, highest, wanted);
}

/**
 * An image digest is that of one version. A path with intermediate versions is refused: their images would be pulled by
 * tag, which the digest is meant to prevent.
 */
export function routeByDigest(route: Route): Route {
  if (!route.passable || route.hops.length < 2) return route;
  const versions = route.hops.map(({ version }) => version);
  const [first = '', last = ''] = [versions[0], versions.at(-1)];
  return blocked(
    `upgrade to ${last} needs the intermediate version ${versions.slice(0, -1).join(', ')}, but the digest in the spec is that of ${last}: ` +
      `set spec.version to ${first} with its digest or without a digest, then to ${last} once all members run ${first}`,
  );
}

const areSame = (a: Version, b: Version): boolean => compareVersions(a, b) === 0;

function refusalOf(wanted: Version, lowest: Version): Route | undefined {
  const fault = faultOf(wanted);
  if (fault?.refused === true)
    return blocked(`etcd ${textOf(wanted)} ${fault.effect}: choose a later patch of ${seriesOf(wanted)}`);
  if (wanted.major === lowest.major) return undefined;
  return blocked(`there is no upgrade path from etcd ${textOf(lowest)} to ${textOf(wanted)}`);
}

function wayFrom(lowest: Version, highest: Version, wanted: Version): Route {
  if (wanted.minor < lowest.minor) return wayBack(lowest, highest, wanted);
  if (wanted.minor < highest.minor || lowest.minor === wanted.minor) return direct(textOf(wanted));
  return wayForward(lowest, highest, wanted);
}

const blocked = (why: string): Route => ({ passable: false, why });
const direct = (version: string): Route => ({ passable: true, hops: [{ version, isDowngrade: false }] });

/** If members run two minors, all members reach the higher minor first. */
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
 * A member below the minimum patch of the lower minor keeps all members at that minor until it runs the minimum patch.
 * No data is converted while it runs the lower minor.
 */
const isUnderWay = (lowest: Version, highest: Version): boolean =>
  highest.minor > lowest.minor && !isBelowFloor(lowest);

function isBelowFloor(version: Version): boolean {
  const floor = parseVersion(floorBeforeNext[seriesOf(version)] ?? '');
  return floor !== undefined && compareVersions(version, floor) < 0;
}

/** The patch of its own minor that a member must run before `to`; undefined if it may run `to` at once. */
export function requiredPatch(from: string, to: string): string | undefined {
  const [version, wanted] = [parseVersion(from), parseVersion(to)];
  if (version === undefined || wanted === undefined || wanted.minor <= version.minor) return undefined;
  return isBelowFloor(version) ? newestOf[seriesOf(version)] : undefined;
}

const unknown = (minor: string): string =>
  `etcd ${minor} is unknown to this operator: set spec.version to a release of ${minor} first`;

/** If members run two minors, all members reach the lower minor first. */
function wayBack(lowest: Version, highest: Version, wanted: Version): Route {
  const oldest = { ...firstWithDowngrade, patch: 0 };
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
  `downgrade from etcd ${from} to ${to} is impossible, because etcd has converted its data: ` +
  'set spec.version to the running version, or restore a backup from before the upgrade into a new cluster';

const within = (version: Version, from: string, to: string): boolean => {
  const [first, last] = [parseVersion(from), parseVersion(to)];
  if (first === undefined || last === undefined) return false;
  return compareVersions(version, first) >= 0 && compareVersions(version, last) <= 0;
};

const faultOf = (version: Version) => faults.find(({ from, to }) => within(version, from, to));

/** Why a new cluster may not start with a version; undefined if it may. Running clusters are not affected. */
export function refusalToBootstrap(text: string): string | undefined {
  const version = parseVersion(text);
  if (version === undefined) return undefined;
  if (version.major !== 3) return `etcd ${text} is not supported: choose a release of etcd 3`;
  const fault = faultOf(version);
  return fault?.refused === true
    ? `etcd ${text} ${fault.effect}: choose a later patch of ${seriesOf(version)}`
    : undefined;
}

/** A warning about a known fault of a version; undefined if there is none. */
export function warningAbout(text: string): string | undefined {
  const version = parseVersion(text);
  const fault = version === undefined ? undefined : faultOf(version);
  return fault === undefined ? undefined : `etcd ${text} ${fault.effect}: choose a later patch`;
}

const seriesOf = ({ major, minor }: Version): string => `${major}.${minor}`;
const textOf = ({ major, minor, patch }: Version): string => `${major}.${minor}.${patch}`;
