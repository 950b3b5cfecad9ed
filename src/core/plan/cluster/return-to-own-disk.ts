import { type Carrier, type ClusterWorld, isInherited } from '../../model/cluster.ts';
import { hasFormedUnseen } from './formed-unseen.ts';
import { versionForReturner } from './outdated.ts';
import { joinAmong } from './start-newcomer.ts';
import { act, type Join, type Rule, type Step } from './step.ts';

/**
 * A member whose disk is there comes back on it, under its own name, without a change of membership. That needs no word
 * from etcd, and so it also works when every pod is gone and there is nobody to ask.
 */
export const returnToOwnDisk: Rule = (world) => {
  if (!mayReturn(world)) return undefined;
  const returning = world.carriers.filter((carrier) => carrier.disk === 'own' && mayBeMember(carrier, world));
  const steps = returning.flatMap((carrier) => stepFor(carrier, world));
  if (steps.length === 0) return undefined;
  return act('MemberReturning', `starting ${steps.map(({ name }) => name).join(', ')} again on its own disk`, ...steps);
};

/** Of a cluster that another operator has made, only where nothing runs any more that could be disturbed. */
function mayReturn(world: ClusterWorld): boolean {
  const { memory, keepers = [], carriers } = world;
  if (memory.clusterId !== undefined || hasFormedUnseen(world)) return true;
  return isInherited(memory) && keepers.length === 0 && carriers.every((each) => !each.isForeign || isDown(each));
}

const isDown = ({ phase }: Carrier): boolean => phase === 'gone' || phase === 'ended';

function mayBeMember(carrier: Carrier, { membership }: ClusterWorld): boolean {
  if (!membership.seen) return true;
  const member = membership.value.members.find(({ name }) => name === carrier.name);
  return member !== undefined && member.health !== 'never-started';
}

function stepFor(carrier: Carrier, world: ClusterWorld): readonly (Step & { readonly name: string })[] {
  const { name, uid, phase } = carrier;
  const version = versionForReturner(carrier, world);
  if (phase === 'gone') return [{ kind: 'start-carrier', name, join: joinOf(carrier, world), version }];
  return phase === 'ended' ? [{ kind: 'stop-carrier', name, uid }] : [];
}

/** The disk of a founder that has never served may be empty, and then it is no loss: it joins those who went on without it. */
function joinOf({ name }: Carrier, { membership }: ClusterWorld): Join {
  const members = (membership.seen ? membership.value : membership.rumour)?.members ?? [];
  const isLate = members.some((member) => member.name === name && member.hasNeverServed === true);
  return isLate ? joinAmong(members) : { as: 'returner' };
}
