import { type Carrier, type ClusterWorld, carrierNamed, type Member, type Membership } from '../../model/cluster.ts';
import { causeOf } from './cause.ts';
import { isAsDesired, needsNewPlace, versionForNewcomers } from './outdated.ts';
import { act, type Join, type Rule, type Verdict, wait } from './step.ts';

/**
 * A member that was added and has never started gets its body, which is told of all members by their own list. A rumour
 * will do: when the second of two voters is the one that never started, there is no majority to ask before it has.
 */
export const startNewcomer: Rule = (world) => {
  const { memory } = world;
  const heard = heardIn(world);
  const newcomer = heard?.members.find((member) => member.health === 'never-started');
  if (heard === undefined || newcomer === undefined || memory.clusterId === undefined) return undefined;
  const carrier = carrierNamed(world, newcomer.name);
  const version = versionAmong(heard.members, world);
  if (carrier === undefined || carrier.phase === 'gone') return start(newcomer, world, version);
  return attendTo(carrier, world, version);
};

const heardIn = ({ membership }: ClusterWorld): Membership | undefined =>
  membership.seen ? membership.value : membership.rumour;

/** Without a majority nobody counts as healthy, and still they run what all ran: the spec may name a later minor by now. */
const versionAmong = (members: readonly Member[], { memory, intent }: ClusterWorld): string =>
  versionForNewcomers(members, { version: memory.version ?? intent.version });

function attendTo(carrier: Carrier, { intent }: ClusterWorld, version: string): Verdict | undefined {
  const { name, uid } = carrier;
  if (mustBeMadeAgain(carrier, isAsDesired(carrier, version, intent)))
    return act('MemberStarting', `making ${name} again`, { kind: 'stop-carrier', name, uid });
  if (isOverdue(carrier, intent.replaceAfterSeconds)) return undefined; // a rule further down replaces it
  return causeOf([carrier]) ?? wait('MemberStarting', `waiting for ${name} to start`);
}

/** The same for those who have no majority to ask; with one, the rules in between come first. */
export const startRumouredNewcomer: Rule = (world) => (world.membership.seen ? undefined : startNewcomer(world));

function start({ name: newcomer }: Member, world: ClusterWorld, version: string): Verdict {
  const members = heardIn(world)?.members ?? [];
  const leaving = members.filter((member) => needsNewPlace(member, world)).map(({ name }) => name);
  return act('MemberStarting', `starting ${newcomer}`, {
    ...{ kind: 'start-carrier', name: newcomer, join: joinAmong(members), version },
    ...(leaving.length === 0 ? {} : { leaving }),
  });
}

export const joinAmong = (members: readonly Member[]): Join => ({
  as: 'newcomer',
  among: members.map(({ name, peerURLs }) => ({ name, peerURL: peerURLs[0] ?? '' })),
});

/** Sealed before it ever joined, it could only refuse to start; and what the spec no longer says need not be waited for. */
const mustBeMadeAgain = ({ phase, sealed, ready }: Carrier, asDesired: boolean): boolean =>
  phase === 'ended' || (phase !== 'stopping' && (sealed || (!asDesired && !ready)));

/** Whether this operator has watched it be unready for longer than this. */
export const isOverdue = ({ ready, unreadyMillis = 0 }: Carrier, seconds: number): boolean =>
  !ready && unreadyMillis > seconds * 1000;
