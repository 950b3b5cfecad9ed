import type { Carrier, ClusterWorld, Member } from '../../model/cluster.ts';
import { isSameVersion } from '../../model/version.ts';
import { routeOf } from './outdated.ts';
import { type Verdict, wait, waitForPerson } from './step.ts';

export interface Pair {
  readonly member: Member;
  readonly carrier: Carrier;
}

/** Whether etcd says of itself that it is not the version that its pod was made for. */
export const isOfAnotherVersion = ({ member, carrier }: Pair): boolean =>
  !isSameVersion(member.version, carrier.version);

/** Whether the image of a member is of another version than its pod names, and no longer the image of the version that is next. */
export const isWrongFor = (next: string, pair: Pair, { intent }: ClusterWorld): boolean =>
  pair.carrier.isChanging !== true && isOfAnotherVersion(pair) && pair.carrier.image !== intent.imageOf(next);

/** Kubelets may start a container of the image before once more, when it ends just when its image is changed. */
const secondsToSettle = 10;

/** What blocks a member whose image is of another version than the spec names: a digest of another version, or a tag that was moved. */
export function wrongImage({ member, carrier }: Pair, world: ClusterWorld): Verdict | undefined {
  const { ready, readySince = world.now, isChanging = false, image, version } = carrier;
  if (isChanging || !ready || world.now - readySince < secondsToSettle * 1000) return undefined;
  const route = routeOf(world);
  if (!route.passable) return wait('UpgradeRefused', route.says);
  return waitForPerson(
    'WrongImage',
    `${member.name} runs etcd ${member.version}, and its image ${image} was to be etcd ${version}: ` +
      'set spec.version to what the image is of, or correct the digest or the repository',
  );
}
