import type { Carrier } from '../../model/cluster.ts';
import { type Verdict, wait } from './step.ts';

/** What stands in the way of a carrier that cannot start, for people to read; nothing when none is stuck. */
export function causeOf(carriers: readonly Carrier[]): Verdict | undefined {
  const stuck = carriers.find((carrier) => carrier.phase === 'stuck');
  return stuck === undefined ? undefined : wait('MemberStuck', `${stuck.name} cannot start: ${stuck.why}`);
}
