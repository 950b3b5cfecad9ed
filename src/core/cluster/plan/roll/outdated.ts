import { authBlocksUpgrade } from '../../../versions/auth.ts';
import { type Hop, type Route, requiredPatch, routeByDigest, routeTo } from '../../../versions/route.ts';
import { alarmsIn, areAlarmsUnknown, isCorrupt } from '../../model/alarms.ts';
import {
  type ClusterWorld,
  isKnown,
  type KnownWorld,
  type Member,
  type MemberPod,
  memberPodNamed,
} from '../../model/cluster.ts';
import type { ClusterIntent } from '../../model/intent.ts';
import { compareVersions, isSameVersion, parseVersion } from '../../model/version.ts';

/** True if a member pod matches the spec for that version. */
export const isAsDesired = ({ drift, image }: MemberPod, version: string, { imageOf }: ClusterIntent): boolean =>
  drift !== 'pod' && drift !== 'volume' && image === imageOf(version);

/** The upgrade path from the versions of healthy members to spec.version. */
export function routeOf({ membership, intent, hasUsers = false }: KnownWorld): Route {
  if (hasUsers) return { passable: false, why: authBlocksUpgrade(intent.version) };
  return routeFrom(runningVersions(membership.value.members), intent);
}

/** The upgrade path from running versions to spec.version. An image by digest allows a single hop only. */
export function routeFrom(running: readonly string[], { version, isPinned = false }: ClusterIntent): Route {
  const route = routeTo(version, running);
  return isPinned ? routeByDigest(route) : route;
}

const runningVersions = (members: readonly Member[]): readonly string[] =>
  members.flatMap(({ health, version }) => (health === 'healthy' ? (version ?? []) : []));

/** The next version for all members; undefined if there is no upgrade path. */
export function nextHop(world: KnownWorld): Hop | undefined {
  const route = routeOf(world);
  return route.passable ? route.hops[0] : undefined;
}

/** A joining member gets the newest running version, which can read the data of all members. */
export function versionForJoiningMembers(
  members: readonly Member[],
  { version }: Pick<ClusterIntent, 'version'>,
): string {
  const running = runningVersions(members).flatMap((text) => {
    const parsed = parseVersion(text);
    return parsed === undefined ? [] : [{ text, parsed }];
  });
  return running.toSorted((a, b) => compareVersions(b.parsed, a.parsed))[0]?.text ?? version;
}

/** Without quorum, without an upgrade path, or while data may be corrupt, the member keeps its version. */
export function versionForRestartingMember(memberPod: MemberPod, world: ClusterWorld): string {
  const before = memberPod.version || world.memory.version || world.intent.version;
  const mayDiffer = isCorrupt(world) || areAlarmsUnknown(world);
  return isKnown(world) && !mayDiffer ? (versionForUnhealthy(memberPod, world) ?? before) : before;
}

/** The next version, if it is of a newer minor that no member runs yet. */
export function nextMinor(world: KnownWorld): string | undefined {
  const hop = nextHop(world);
  const running = runningVersions(world.membership.value.members).map(minorIn);
  if (hop === undefined || hop.isDowngrade || running.length === 0) return undefined;
  return running.includes(minorIn(hop.version)) ? undefined : hop.version;
}

/** True if the spec requires a backup before the next minor and that backup has not succeeded yet. */
export const needsPreUpgradeBackup = (world: KnownWorld): boolean =>
  world.preUpgradeBackup !== undefined && world.preUpgradeBackup.state !== 'good' && nextMinor(world) !== undefined;

/**
 * The version for an unhealthy member; undefined while etcd is not ready for a downgrade. A member below the minimum
 * patch of its minor gets that patch first, whatever the others run.
 */
export function versionForUnhealthy(memberPod: MemberPod, world: KnownWorld): string | undefined {
  const hop = nextHop(world);
  if (hop === undefined || (needsPreUpgradeBackup(world) && !hasNextMinor(memberPod, world))) return undefined;
  if (hop.isDowngrade) return isDowngradeReady(hop, world) ? hop.version : undefined;
  const { members } = world.membership.value;
  const to = mayGoAhead(memberPod, world) ? hop.version : versionForJoiningMembers(members, world.intent);
  return viaRequiredPatch(memberPod, to, world.intent);
}

/** True if the member pod already has the next minor: the pre-upgrade backup was good when the pod got that version. */
const hasNextMinor = ({ version }: MemberPod, world: KnownWorld): boolean =>
  minorIn(version) === minorIn(nextMinor(world) ?? '');

/** With an image by digest, the image of the required patch is unknown: the spec has the digest of one version only. */
function viaRequiredPatch(memberPod: MemberPod, to: string, { isPinned = false }: ClusterIntent): string | undefined {
  const patch = requiredPatch(memberPod.version, to);
  if (patch === undefined) return to;
  return isPinned ? undefined : patch;
}

/**
 * An unhealthy member may be the first in the next minor only if all members have run the minor before, at its minimum
 * patch or later, and no alarm is raised. The version of its pod proves nothing: that version may never have started. A
 * member that already has the next minor keeps it.
 */
function mayGoAhead(memberPod: MemberPod, world: KnownWorld): boolean {
  const next = nextMinor(world);
  if (next === undefined || hasNextMinor(memberPod, world)) return true;
  const { members } = world.membership.value;
  const { version: ranByAll = '' } = world.memory;
  const haveRunMinorBefore = minorIn(ranByAll) === minorIn(versionForJoiningMembers(members, world.intent));
  return haveRunMinorBefore && requiredPatch(ranByAll, next) === undefined && alarmsIn(world).length === 0;
}

/** True if the downgrade is enabled in etcd and every member has converted its data for the target version. */
export function isDowngradeReady({ version }: Hop, { membership }: KnownWorld): boolean {
  const { members } = membership.value;
  const goesTo = minorIn(version);
  const isEnabled = members.some(({ downgradeTarget }) => minorIn(downgradeTarget ?? '') === goesTo);
  const answering = members.filter(({ health }) => health === 'healthy');
  return isEnabled && answering.every(({ storageVersion }) => minorIn(storageVersion ?? '') === goesTo);
}

const minorIn = (version: string): string => version.split('.').slice(0, 2).join('.');

/** True if the member cannot be changed with its data, so that another member has to replace it. */
export function needsReplacement({ name }: Member, world: ClusterWorld): boolean {
  const memberPod = memberPodNamed(world, name);
  if (memberPod === undefined) return false;
  return memberPod.drift === 'volume' || (memberPod.drift === 'pod' && memberPod.volume !== 'own');
}

/** spec.size, plus one while a healthy member has to be replaced. */
export function wantedSize(world: KnownWorld): number {
  const { membership, intent } = world;
  const isSurging = membership.value.members.some(
    (member) => member.health === 'healthy' && needsReplacement(member, world),
  );
  return intent.size + (isSurging ? 1 : 0);
}

/**
 * True if no healthy member has the same template and version. The change itself may then keep the member from
 * starting, and a replacement would fail too. The rollout stops until the user corrects the spec.
 */
export function hasUnprovenTemplate(memberPod: MemberPod, world: KnownWorld): boolean {
  const { members } = world.membership.value;
  const healthy = members.filter(({ health }) => health === 'healthy');
  return !healthy.some((member) => {
    const other = memberPodNamed(world, member.name);
    return other !== undefined && hasSameTemplate(other, memberPod) && isSameVersion(member.version, memberPod.version);
  });
}

/** True if both pods have the same pod template, image and volume claim template. */
export const hasSameTemplate = (one: MemberPod, other: MemberPod): boolean =>
  one.template === other.template && one.image === other.image && one.volumeKind === other.volumeKind;
