import type { Carrier, ClusterWorld, Membership } from '../../model/cluster.ts';
import { hasLearners } from '../../model/version.ts';
import { causeOf } from './cause.ts';
import { isAsDesired, versionForNewcomers, wantedSize } from './outdated.ts';
import { isOverdue } from './start-newcomer.ts';
import { act, type Rule, wait } from './step.ts';

/**
 * Before etcd 3.4 a new member is a voter at once. Where there is only one, the second raises the majority to two before
 * it runs, and if it never does it cannot even be taken back. So here its body comes first: only when that has been
 * scheduled, has its disk and has started its image, does etcd hear of it.
 */
export const prepareSecondVoter: Rule = (world) => {
  if (!needsPreparation(world) || !world.membership.seen) return undefined;
  const carrier = preparedCarrier(world);
  if (carrier === undefined) return prepare(world, world.membership.value);
  if (mustBeMadeAgain(carrier, world, world.membership.value)) {
    const { name, uid } = carrier;
    return act('ScalingUp', `making ${name} again`, { kind: 'stop-carrier', name, uid });
  }
  if (!carrier.hasRun)
    return causeOf([carrier]) ?? wait('MemberStarting', `waiting for the image of ${carrier.name} to start`);
  return act('ScalingUp', `Current cluster size: 1, desired cluster size: ${world.intent.size}`, {
    kind: 'add-member',
    name: carrier.name,
    as: 'voter',
  });
};

/** How long one may have been waiting, and the kubelet still starts it again soon. */
const secondsToWait = 60;

/**
 * What the spec no longer says need not be waited for. And one that has failed for a while, since nobody was there to have it
 * added, is left for minutes by the kubelet before it is tried again: for so long there would be no majority.
 */
function mustBeMadeAgain(carrier: Carrier, { intent }: ClusterWorld, { members }: Membership): boolean {
  if (!isAsDesired(carrier, versionForNewcomers(members, intent), intent)) return true;
  return carrier.hasRun && carrier.phase === 'stuck' && isOverdue(carrier, secondsToWait);
}

export function needsPreparation(world: ClusterWorld): boolean {
  const { intent, membership } = world;
  if (!membership.seen || wantedSize(world) < 2) return false;
  const [only, ...others] = membership.value.members;
  return only !== undefined && others.length === 0 && !hasLearners(only.version ?? intent.version);
}

/** A carrier that waits for etcd to hear of it: it is no member yet, and has never been one. */
export function preparedCarrier({ membership, carriers }: ClusterWorld): Carrier | undefined {
  const listed = new Set(membership.seen ? membership.value.members.map(({ name }) => name) : []);
  const candidates = carriers.filter((carrier) => !carrier.sealed && !listed.has(carrier.name));
  return candidates.find(({ phase }) => phase === 'starting' || phase === 'stuck' || phase === 'running');
}

function prepare({ intent, spareNames }: ClusterWorld, { members }: Membership): ReturnType<Rule> {
  const name = spareNames[0];
  if (name === undefined) return undefined;
  const known = members.map((member) => ({ name: member.name, peerURL: member.peerURLs[0] ?? '' }));
  const among = [...known, { name, peerURL: intent.peerURLOf(name) }];
  const version = versionForNewcomers(members, intent);
  return act('ScalingUp', `preparing ${name}`, {
    kind: 'start-carrier',
    name,
    join: { as: 'newcomer', among },
    version,
  });
}
