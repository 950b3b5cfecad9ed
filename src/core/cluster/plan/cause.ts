import type { MemberPod } from '../model/cluster.ts';
import { type Verdict, wait } from './step.ts';

/** A wait that names the first member pod that cannot start and the cause; undefined if all can start. */
export function causeOf(memberPods: readonly MemberPod[]): Verdict | undefined {
  const stuck = memberPods.find((memberPod) => memberPod.phase === 'stuck');
  return stuck === undefined ? undefined : wait('MemberStuck', `${stuck.name} cannot start: ${stuck.why}`);
}
