import type { KnownWorld, Member, MemberPod } from '../../model/cluster.ts';
import { isSameVersion } from '../../model/version.ts';
import { type Verdict, wait, waitForUser } from '../step.ts';
import { routeOf } from './outdated.ts';

export interface Pair {
  readonly member: Member;
  readonly memberPod: MemberPod;
}

/** True if etcd reports another version than its pod was created for. */
export const isOfAnotherVersion = ({ member, memberPod }: Pair): boolean =>
  !isSameVersion(member.version, memberPod.version);

/** True if a member runs another version than its pod names and its image is not the image of the next version. */
export const isWrongFor = (next: string, pair: Pair, { intent }: KnownWorld): boolean =>
  pair.memberPod.isChanging !== true && isOfAnotherVersion(pair) && pair.memberPod.image !== intent.imageOf(next);

/** A kubelet may start the old image once more if the container ends at the moment of the change. */
const secondsToSettle = 10;

/** Reports a member image with another version than spec.version: a wrong digest, or a tag that was moved. */
export function wrongImage({ member, memberPod }: Pair, world: KnownWorld): Verdict | undefined {
  const { ready, readySince = world.now, isChanging = false, image, version } = memberPod;
  if (isChanging || !ready || world.now - readySince < secondsToSettle * 1000) return undefined;
  const route = routeOf(world);
  if (!route.passable) return wait('UpgradeRefused', route.why);
  return waitForUser(
    'WrongImage',
    `member ${member.name} runs etcd ${member.version}, but its image ${image} should contain etcd ${version}: ` +
      'set spec.version to the version in the image, or correct the digest or the repository',
  );
}
