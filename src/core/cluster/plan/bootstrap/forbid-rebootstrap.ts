import type { KnownWorld } from '../../model/cluster.ts';
import { act, type MemberStep, type Rule } from '../step.ts';

/**
 * A member that has joined must never start again from an empty volume: it would keep its identity without its Raft
 * log. So re-bootstrap is forbidden as soon as a member has joined.
 */
export const forbidRebootstrap: Rule<KnownWorld> = ({ memory, membership, memberPods }) => {
  if (memory.clusterId === undefined) return undefined;
  const joined = new Set(membership.value.members.filter((m) => m.health === 'healthy').map((m) => m.name));
  const open = memberPods.filter(
    (memberPod) => !memberPod.bootstrapForbidden && memberPod.phase === 'running' && joined.has(memberPod.name),
  );
  if (open.length === 0) return undefined;
  const steps = open.map(({ name, uid }): MemberStep => ({ kind: 'forbid-rebootstrap', name, uid }));
  return act('Formed', `forbidding re-bootstrap of ${open.map(({ name }) => name).join(', ')}`, ...steps);
};
