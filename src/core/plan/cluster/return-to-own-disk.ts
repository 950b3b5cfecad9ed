import type { Carrier, ClusterWorld } from '../../model/cluster.ts';
import { versionForReturner } from './outdated.ts';
import { act, type Rule, type Step } from './step.ts';

/**
 * A member whose disk is there comes back on it, under its own name, without a change of membership. That needs no word
 * from etcd, and so it also works when every pod is gone and there is nobody to ask.
 */
export const returnToOwnDisk: Rule = (world) => {
  if (world.memory.clusterId === undefined) return undefined;
  const returning = world.carriers.filter((carrier) => carrier.disk === 'own' && mayBeMember(carrier, world));
  const steps = returning.flatMap((carrier) => stepFor(carrier, world));
  if (steps.length === 0) return undefined;
  return act('MemberReturning', `starting ${steps.map(({ name }) => name).join(', ')} again on its own disk`, ...steps);
};

function mayBeMember(carrier: Carrier, { membership }: ClusterWorld): boolean {
  if (!membership.seen) return true;
  const member = membership.value.members.find(({ name }) => name === carrier.name);
  return member !== undefined && member.health !== 'never-started';
}

function stepFor(carrier: Carrier, world: ClusterWorld): readonly (Step & { readonly name: string })[] {
  const { name, uid, phase } = carrier;
  const version = versionForReturner(carrier, world);
  if (phase === 'gone') return [{ kind: 'start-carrier', name, join: { as: 'returner' }, version }];
  return phase === 'ended' ? [{ kind: 'stop-carrier', name, uid }] : [];
}
