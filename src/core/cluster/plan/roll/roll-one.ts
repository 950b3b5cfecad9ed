import type { Hop } from '../../../versions/route.ts';
import { type KnownWorld, type Member, type MemberPod, memberPodNamed } from '../../model/cluster.ts';
import { canMoveLeader, minorOf, movingTo } from '../../model/version.ts';
import { hasCaughtUp } from '../scale/promote-learner.ts';
import { act, type MemberStep, type Rule, type Verdict, wait } from '../step.ts';
import { waitForReady } from '../wait/wait-for-ready.ts';
import { leaveClientService } from './leave-client-service.ts';
import { isAsDesired, isDowngradeReady, needsReplacement, nextHop, routeOf } from './outdated.ts';
import { isOfAnotherVersion, isWrongFor, type Pair, wrongImage } from './wrong-image.ts';

/**
 * Applies the spec to the next outdated member: followers first, the leader last and only after a transfer of
 * leadership. All members are healthy voters at this point. A rolled member that does not recover stops the rollout.
 */
export const rollOne: Rule<KnownWorld> = (world) => {
  const pairs = world.membership.value.members.flatMap((member) => pairOf(member, world));
  return (
    correctImage(pairs, world) ??
    waitForLast(pairs, world) ??
    relabel(pairs) ??
    cancelDowngrade(world) ??
    rollNext(pairs, world)
  );
};

/** Without an upgrade path to spec.version, all other changes are still rolled out, certificates included. */
function rollNext(pairs: readonly Pair[], world: KnownWorld): Verdict | undefined {
  const route = routeOf(world);
  const hop = route.passable ? route.hops[0] : undefined;
  const to = ({ version }: MemberPod): string => hop?.version ?? version;
  const outdated = pairs.filter(({ memberPod }) => !isAsDesired(memberPod, to(memberPod), world.intent));
  const [next] = outdated.toSorted((a, b) => turn(a) - turn(b));
  const unready = waitForReady(
    pairs.map(({ memberPod }) => memberPod),
    next?.memberPod,
    world.now,
  );
  if (unready !== undefined) return unready;
  if (next === undefined) return route.passable ? undefined : wait('UpgradeRefused', route.why);
  return prepareDowngrade(hop, world) ?? prepareStop(next, pairs, world) ?? change(next, to(next.memberPod), world);
}

/** A member gives up leadership, then leaves the client Service, before it is stopped. */
const prepareStop = (pair: Pair, pairs: readonly Pair[], world: KnownWorld): Verdict | undefined =>
  transferLeadership(pair, pairs, world) ?? leaveClientService(pair.memberPod, world, 'Rolling');

/** Unready members are rolled first; of the others, the leader last. */
const turn = ({ member, memberPod }: Pair): number => Number(memberPod.ready) * 2 + Number(member.leads);

const pairOf = (member: Member, world: KnownWorld): readonly Pair[] => {
  const memberPod = memberPodNamed(world, member.name);
  return memberPod === undefined ? [] : [{ member, memberPod }];
};

/** Corrects the image of a member that runs another version than its pod names. */
function correctImage(pairs: readonly Pair[], world: KnownWorld): Verdict | undefined {
  const hop = nextHop(world);
  if (hop === undefined) return undefined;
  const [wrong] = pairs.filter((pair) => isWrongFor(hop.version, pair, world)).toSorted((a, b) => turn(a) - turn(b));
  if (wrong === undefined) return undefined;
  return (
    waitForCorrected(hop, pairs, world) ??
    prepareDowngrade(hop, world) ??
    prepareStop(wrong, pairs, world) ??
    change(wrong, hop.version, world)
  );
}

/** A corrected member must run its version before the next member is corrected: the correction may be wrong too. */
function waitForCorrected({ version }: Hop, pairs: readonly Pair[], world: KnownWorld): Verdict | undefined {
  const members = pairs.map(({ member }) => member);
  const isBack = (pair: Pair): boolean =>
    pair.memberPod.isChanging !== true &&
    (!isOfAnotherVersion(pair) || isWrongFor(version, pair, world)) &&
    hasCaughtUp(pair.member, members);
  const last = pairs.find((pair) => !isBack(pair));
  if (last === undefined) return undefined;
  const wrong = isOfAnotherVersion(last) ? wrongImage(last, world) : undefined;
  return wrong ?? wait('Upgrading', `waiting for member ${last.member.name} to run etcd ${last.memberPod.version}`);
}

/** After a change of the image, the old container still answers until the kubelet restarts it. */
function waitForLast(pairs: readonly Pair[], world: KnownWorld): Verdict | undefined {
  const members = pairs.map(({ member }) => member);
  const changing = pairs.find((pair) => pair.memberPod.isChanging === true || isOfAnotherVersion(pair));
  if (changing !== undefined) {
    const { member, memberPod } = changing;
    return (
      wrongImage(changing, world) ??
      wait('Upgrading', `waiting for member ${member.name} to run etcd ${memberPod.version} (runs ${member.version})`)
    );
  }
  const behind = pairs.find(({ member }) => !hasCaughtUp(member, members));
  return behind === undefined ? undefined : wait('Rolling', `waiting for member ${behind.member.name} to catch up`);
}

/** A change of labels does not disrupt, so all pods are patched at once. */
function relabel(pairs: readonly Pair[]): Verdict | undefined {
  const steps = pairs
    .filter(({ memberPod }) => memberPod.drift === 'labels')
    .map(({ memberPod: { name, uid } }): MemberStep => ({ kind: 'relabel-member-pod', name, uid }));
  return steps.length === 0 ? undefined : act('Rolling', 'updating labels and annotations of member pods', ...steps);
}

/** Cancels a downgrade that the spec no longer asks for. While it is enabled, etcd allows no other version. */
function cancelDowngrade(world: KnownWorld): Verdict | undefined {
  const { members } = world.membership.value;
  const target = members.find(({ downgradeTarget }) => downgradeTarget !== undefined)?.downgradeTarget;
  if (target === undefined || minorOf(target) === minorOf(world.intent.version)) return undefined;
  if (minorOf(nextHop(world)?.version ?? '') === minorOf(target)) return undefined;
  return act('Upgrading', `cancelling the downgrade to ${target}`, { kind: 'cancel-downgrade' });
}

function prepareDowngrade(hop: Hop | undefined, world: KnownWorld): Verdict | undefined {
  if (hop?.isDowngrade !== true || isDowngradeReady(hop, world)) return undefined;
  const { version } = hop;
  const { members } = world.membership.value;
  const isEnabled = members.some(({ downgradeTarget }) => downgradeTarget !== undefined);
  if (isEnabled) return wait('Upgrading', `waiting for all members to convert their data for etcd ${version}`);
  return act('Upgrading', `enabling the downgrade to ${version}`, { kind: 'enable-downgrade', version });
}

/**
 * The leader is rolled last, so every transferee is up to date and one transfer is enough. The transferee is the member
 * that has been ready for the longest. etcd drops writes during a transfer. Some writes were lost when the transferee
 * was the member furthest in the log, which can have just restarted.
 */
function transferLeadership({ member }: Pair, pairs: readonly Pair[], { intent }: KnownWorld): Verdict | undefined {
  if (!member.leads || !canMoveLeader(member.version ?? intent.version)) return undefined;
  const others = pairs.filter((pair) => pair.member !== member && pair.member.role === 'voter');
  const [transferee] = others.toSorted((a, b) => readySinceOf(a) - readySinceOf(b) || indexDifference(b, a));
  if (transferee === undefined) return undefined;
  const { id, name } = transferee.member;
  return act('Rolling', `transferring leadership from ${member.name} to ${name}`, {
    kind: 'transfer-leadership',
    id,
    name,
  });
}

const readySinceOf = ({ memberPod: { ready, readySince = 0 } }: Pair): number =>
  ready ? readySince : Number.MAX_SAFE_INTEGER;

/** How many log entries the first member is ahead of the second. */
const indexDifference = (one: Pair, other: Pair): number =>
  Number((one.member.raftIndex ?? 0n) - (other.member.raftIndex ?? 0n));

function change({ member, memberPod }: Pair, to: string, world: KnownWorld): Verdict | undefined {
  const { id, name } = member;
  const { uid, drift, version: from } = memberPod;
  const { intent } = world;
  if (needsReplacement(member, world))
    return act('Rolling', `removing outdated member ${name}`, {
      kind: 'remove-member',
      id,
      name,
      because: 'outdated',
    });
  if (drift === 'pod' && !member.peerURLs.includes(intent.peerURLOf(name)))
    return act('Rolling', `updating peer URL of ${name}`, { kind: 'update-peer-url', id, name });
  if (drift === 'pod') return act('Rolling', `recreating pod ${name}`, { kind: 'stop-member-pod', name, uid });
  const message = from === to ? `changing the image of ${name}` : movingTo(intent.version, from);
  return act('Upgrading', message, { kind: 'change-image', name, uid, from, to });
}
