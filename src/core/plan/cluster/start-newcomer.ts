import { type Carrier, carrierNamed, type Member } from '../../model/cluster.ts';
import { causeOf } from './cause.ts';
import { act, type Rule, type Verdict, wait } from './step.ts';

/** A member that was added and has never started gets its body, which is told of all members by their own list. */
export const startNewcomer: Rule = (world) => {
  if (!world.membership.seen) return undefined;
  const { members } = world.membership.value;
  const newcomer = members.find((member) => member.health === 'never-started');
  if (newcomer === undefined) return undefined;

  const carrier = carrierNamed(world, newcomer.name);
  if (carrier === undefined || carrier.phase === 'gone') return start(newcomer, members);
  if (mustBeMadeAgain(carrier)) {
    return act('MemberStarting', `making ${newcomer.name} again`, {
      kind: 'stop-carrier',
      name: carrier.name,
      uid: carrier.uid,
    });
  }
  if (isOverdue(carrier, world.now, world.intent.replaceAfterSeconds)) return undefined; // the next rule replaces it
  return causeOf([carrier]) ?? wait('MemberStarting', `waiting for ${newcomer.name} to start`);
};

function start(newcomer: Member, members: readonly Member[]): Verdict {
  const among = members.map(({ name, peerURLs }) => ({ name, peerURL: peerURLs[0] ?? '' }));
  const join = { as: 'newcomer', among } as const;
  return act('MemberStarting', `starting ${newcomer.name}`, { kind: 'start-carrier', name: newcomer.name, join });
}

/** Sealed before it ever joined, it could only refuse to start; and what the spec no longer says need not be waited for. */
const mustBeMadeAgain = ({ phase, sealed, asDesired, ready }: Carrier): boolean =>
  phase === 'ended' || (phase !== 'stopping' && (sealed || (!asDesired && !ready)));

export const isOverdue = (carrier: Carrier, now: number, seconds: number): boolean =>
  carrier.unreadySince !== undefined && now - carrier.unreadySince > seconds * 1000;
