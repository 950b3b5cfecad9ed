import { type Carrier, type ClusterWorld, carrierNamed, type Member } from '../../model/cluster.ts';
import { canMoveLeader, minorOf, movingTo } from '../../model/version.ts';
import type { Hop } from '../../versions/route.ts';
import { isAsDesired, isDowngradeReady, needsNewPlace, nextHop, routeOf } from './outdated.ts';
import { hasCaughtUp } from './promote-learner.ts';
import { act, type Rule, type Step, type Verdict, wait } from './step.ts';
import { waitForReady } from './wait-for-ready.ts';
import { isOfAnotherVersion, isWrongFor, type Pair, wrongImage } from './wrong-image.ts';

/**
 * Carries what the spec says to one member more: followers first, the leader last and only when it leads no more. By now
 * everybody is a healthy voter, so the one before has come back; if one does not, all stops here.
 */
export const rollOne: Rule = (world) => {
  if (!world.membership.seen) return undefined;
  const pairs = world.membership.value.members.flatMap((member) => pairOf(member, world));
  return (
    correctImage(pairs, world) ??
    waitForLast(pairs, world) ??
    relabel(pairs) ??
    cancelDowngrade(world) ??
    rollNext(pairs, world)
  );
};

/** Where there is no way to the version that is wanted, all else still reaches members: certificates do not wait. */
function rollNext(pairs: readonly Pair[], world: ClusterWorld): Verdict | undefined {
  const route = routeOf(world);
  const hop = route.passable ? route.hops[0] : undefined;
  const to = ({ version }: Carrier): string => hop?.version ?? version;
  const outdated = pairs.filter(({ carrier }) => !isAsDesired(carrier, to(carrier), world.intent));
  const [next] = outdated.toSorted((a, b) => turn(a) - turn(b));
  const unready = waitForReady(
    pairs.map(({ carrier }) => carrier),
    next?.carrier,
    world.now,
  );
  if (unready !== undefined) return unready;
  if (next === undefined) return route.passable ? undefined : wait('UpgradeRefused', route.says);
  return prepareDowngrade(hop, world) ?? giveUpLead(next, pairs, world) ?? change(next, to(next.carrier), world);
}

/** Who serves no clients goes first; of the others, who leads goes last. */
const turn = ({ member, carrier }: Pair): number => Number(carrier.ready) * 2 + Number(member.leads);

const pairOf = (member: Member, world: ClusterWorld): readonly Pair[] => {
  const carrier = carrierNamed(world, member.name);
  return carrier === undefined ? [] : [{ member, carrier }];
};

/** A member whose image is not of the version that its pod names gets the image that the spec names by now. */
function correctImage(pairs: readonly Pair[], world: ClusterWorld): Verdict | undefined {
  const hop = nextHop(world);
  if (hop === undefined) return undefined;
  const [wrong] = pairs.filter((pair) => isWrongFor(hop.version, pair, world)).toSorted((a, b) => turn(a) - turn(b));
  if (wrong === undefined) return undefined;
  return (
    waitForCorrected(hop, pairs, world) ??
    prepareDowngrade(hop, world) ??
    giveUpLead(wrong, pairs, world) ??
    change(wrong, hop.version, world)
  );
}

/** A member that got the corrected image must run its version before the next one gets it: the correction may be wrong too. */
function waitForCorrected({ version }: Hop, pairs: readonly Pair[], world: ClusterWorld): Verdict | undefined {
  const members = pairs.map(({ member }) => member);
  const isBack = (pair: Pair): boolean =>
    pair.carrier.isChanging !== true &&
    (!isOfAnotherVersion(pair) || isWrongFor(version, pair, world)) &&
    hasCaughtUp(pair.member, members);
  const last = pairs.find((pair) => !isBack(pair));
  if (last === undefined) return undefined;
  const wrong = isOfAnotherVersion(last) ? wrongImage(last, world) : undefined;
  return wrong ?? wait('Upgrading', `waiting for ${last.member.name} to run ${last.carrier.version}`);
}

/** Between the change of an image and the start of it the old one still answers, and answers well. */
function waitForLast(pairs: readonly Pair[], world: ClusterWorld): Verdict | undefined {
  const members = pairs.map(({ member }) => member);
  const changing = pairs.find((pair) => pair.carrier.isChanging === true || isOfAnotherVersion(pair));
  if (changing !== undefined) {
    const { member, carrier } = changing;
    return (
      wrongImage(changing, world) ??
      wait('Upgrading', `waiting for ${member.name}, which runs ${member.version}, to run ${carrier.version}`)
    );
  }
  const behind = pairs.find(({ member }) => !hasCaughtUp(member, members));
  return behind === undefined ? undefined : wait('Rolling', `waiting for ${behind.member.name} to catch up`);
}

/** Nobody notices that a label changes, so all are changed at once. */
function relabel(pairs: readonly Pair[]): Verdict | undefined {
  const steps = pairs
    .filter(({ carrier }) => carrier.drift === 'labels')
    .map(({ carrier: { name, uid } }): Step => ({ kind: 'relabel-carrier', name, uid }));
  return steps.length === 0 ? undefined : act('Rolling', 'changing labels and annotations', ...steps);
}

/** Somebody changed their mind: as long as etcd is told to go back, it goes nowhere else. */
function cancelDowngrade(world: ClusterWorld): Verdict | undefined {
  const members = world.membership.seen ? world.membership.value.members : [];
  const told = members.find(({ downgradeTarget }) => downgradeTarget !== undefined)?.downgradeTarget;
  if (told === undefined || minorOf(told) === minorOf(world.intent.version)) return undefined;
  if (minorOf(nextHop(world)?.version ?? '') === minorOf(told)) return undefined;
  return act('Upgrading', `no longer going back to ${told}`, { kind: 'cancel-downgrade' });
}

function prepareDowngrade(hop: Hop | undefined, world: ClusterWorld): Verdict | undefined {
  if (hop?.isDowngrade !== true || isDowngradeReady(hop, world)) return undefined;
  const { version } = hop;
  const members = world.membership.seen ? world.membership.value.members : [];
  const isTold = members.some(({ downgradeTarget }) => downgradeTarget !== undefined);
  if (isTold) return wait('Upgrading', `waiting for all members to make their data readable for etcd ${version}`);
  return act('Upgrading', `allowing all members to go back to ${version}`, { kind: 'enable-downgrade', version });
}

/**
 * The lead goes to a member that need not be changed any more, so that it goes only once; and to the one that has been ready
 * for the longest: etcd drops writes while the lead moves, and some were lost when it went to whoever was furthest in the log,
 * which may be one that is just back.
 */
function giveUpLead({ member }: Pair, pairs: readonly Pair[], { intent }: ClusterWorld): Verdict | undefined {
  if (!member.leads || !canMoveLeader(member.version ?? intent.version)) return undefined;
  const others = pairs.filter((pair) => pair.member !== member && pair.member.role === 'voter');
  const [heir] = others.toSorted((a, b) => standing(a) - standing(b) || lead(b, a));
  if (heir === undefined) return undefined;
  const { id, name } = heir.member;
  return act('Rolling', `moving the lead from ${member.name} to ${name}`, { kind: 'move-leader', id, name });
}

const standing = ({ carrier: { ready, readySince = 0 } }: Pair): number =>
  ready ? readySince : Number.MAX_SAFE_INTEGER;

/** By how much one is further in the log than the other. */
const lead = (one: Pair, other: Pair): number => Number((one.member.raftIndex ?? 0n) - (other.member.raftIndex ?? 0n));

function change({ member, carrier }: Pair, to: string, world: ClusterWorld): Verdict | undefined {
  const { id, name } = member;
  const { uid, drift, version: from } = carrier;
  const { intent } = world;
  if (needsNewPlace(member, world))
    return act('Rolling', `removing ${name}, which is outdated`, {
      kind: 'remove-member',
      id,
      name,
      because: 'outdated',
    });
  if (drift === 'pod' && !member.peerURLs.includes(intent.peerURLOf(name)))
    return act('Rolling', `telling the others where ${name} will be`, { kind: 'update-peer-url', id, name });
  if (drift === 'pod') return act('Rolling', `making the pod of ${name} again`, { kind: 'stop-carrier', name, uid });
  const says = from === to ? `giving ${name} another image` : movingTo(intent.version, from);
  return act('Upgrading', says, { kind: 'change-image', name, uid, from, to });
}
