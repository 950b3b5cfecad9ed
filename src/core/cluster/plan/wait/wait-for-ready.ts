import type { MemberPod } from '../../model/cluster.ts';
import { hasSameTemplate } from '../roll/outdated.ts';
import { type Verdict, wait } from '../step.ts';

/** A kubelet probes once a second and reports a second later. This limit is far longer. */
const longestUntilReportedMillis = 10_000;
/** After this time the member is reported as stuck. */
const longestUntilReadyMillis = 60_000;

/**
 * All members are healthy here by etcd's own report. The kubelet reports a restarted pod as ready a second or two
 * later. The next member is rolled without waiting for that if another pod is ready for clients. The last member is
 * waited for.
 */
export function waitForReady(
  memberPods: readonly MemberPod[],
  next: MemberPod | undefined,
  now: number,
): Verdict | undefined {
  const unready = memberPods.filter(({ ready }) => !ready);
  const [first] = unready;
  if (first === undefined || (next !== undefined && canContinue(next, memberPods, now))) return undefined;
  const late = unready.find(({ unreadySince = now }) => now - unreadySince > longestUntilReadyMillis);
  return late === undefined ? wait('Rolling', `waiting for pod ${first.name} to be ready`) : stuck(late);
}

function canContinue(next: MemberPod, memberPods: readonly MemberPod[], now: number): boolean {
  // An unready pod serves no clients, and the change may repair it.
  if (!next.ready && !hasJustRestarted(next, now)) return true;
  const [first, ...others] = memberPods.filter(({ ready }) => !ready);
  const clientsHaveAnother = memberPods.some((memberPod) => memberPod.ready && memberPod !== next);
  if (first === undefined || others.length > 0 || !clientsHaveAnother) return false;
  return hasJustRestarted(first, now) && hasReadyTwin(first, memberPods);
}

const stuck = ({ name }: MemberPod): Verdict =>
  wait(
    'MemberStuck',
    `pod ${name} does not become ready although etcd in it is healthy, so it receives no clients: see the Events of the pod and correct the last change of the spec`,
  );

/** With a wrong node clock, early or late, the pod counts as not just restarted and is waited for. */
const hasJustRestarted = ({ unreadySince = 0, hasFallenUnready }: MemberPod, now: number): boolean =>
  hasFallenUnready !== true && Math.abs(now - unreadySince) < longestUntilReportedMillis;

/**
 * True if a pod of the same template is ready. Otherwise the change itself may prevent readiness, and rolling stops.
 */
const hasReadyTwin = (memberPod: MemberPod, memberPods: readonly MemberPod[]): boolean =>
  memberPods.some((other) => other.ready && hasSameTemplate(other, memberPod));
