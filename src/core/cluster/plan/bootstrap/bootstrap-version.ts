import { type ClusterWorld, memberPodNamed } from '../../model/cluster.ts';
import type { MemberName } from '../../model/names.ts';
import { compareVersions, minorOf, parseVersion } from '../../model/version.ts';

/**
 * The version that a bootstrap member starts with: spec.version, unless PVCs may hold data of another minor. Then the
 * cluster may have formed while the operator was down. It forms again with the version of its data, and is upgraded
 * afterwards, with all checks of an upgrade.
 */
export function bootstrapVersion(name: MemberName, world: ClusterWorld): string {
  const held = heldVersion(world);
  if (held === undefined) return world.intent.version;
  const memberPod = memberPodNamed(world, name);
  return memberPod === undefined ? held : (dataVersionOf(memberPod) ?? held);
}

/** The newest version that may have written data, if one of these versions is not of the minor of spec.version. */
export function heldVersion({ memory, memberPods, intent }: ClusterWorld): string | undefined {
  const members = memberPods.filter(({ name }) => memory.bootstrap?.members.includes(name));
  const versions = members.flatMap((memberPod) => dataVersionOf(memberPod) ?? []);
  if (versions.every((version) => minorOf(version) === minorOf(intent.version))) return undefined;
  return versions.toSorted(byAge).at(-1);
}

const dataVersionOf = ({ mayHaveData, version }: ClusterWorld['memberPods'][number]): string | undefined =>
  mayHaveData === true && parseVersion(version) !== undefined ? version : undefined;

function byAge(one: string, other: string): number {
  const [a, b] = [parseVersion(one), parseVersion(other)];
  return a === undefined || b === undefined ? 0 : compareVersions(a, b);
}
