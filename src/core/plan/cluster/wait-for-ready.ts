import type { Carrier } from '../../model/cluster.ts';
import { isAlike } from './outdated.ts';
import { type Verdict, wait } from './step.ts';

/** A kubelet looks once a second, and tells what it saw another second later; this is far beyond. */
const longestUntilToldMillis = 10_000;
/** After this, somebody should have a look. */
const longestUntilReadyMillis = 60_000;

/**
 * By now everybody serves by etcd's own word. Whoever is just back is called ready by its kubelet a second or two later, and
 * is waited for at the end; but the next one need not wait for that, while clients have somebody else to be led to.
 */
export function waitForReady(
  carriers: readonly Carrier[],
  next: Carrier | undefined,
  now: number,
): Verdict | undefined {
  const unready = carriers.filter(({ ready }) => !ready);
  const [first] = unready;
  if (first === undefined || (next !== undefined && mayGoOn(next, carriers, now))) return undefined;
  const late = unready.find(({ unreadySince = now }) => now - unreadySince > longestUntilReadyMillis);
  return late === undefined ? wait('Rolling', `waiting for the pod of ${first.name} to be ready`) : stuck(late);
}

function mayGoOn(next: Carrier, carriers: readonly Carrier[], now: number): boolean {
  // No client is led to it, and what the spec says by now may be what helps it.
  if (!next.ready && !isJustBack(next, now)) return true;
  const [first, ...others] = carriers.filter(({ ready }) => !ready);
  const clientsHaveAnother = carriers.some((carrier) => carrier.ready && carrier !== next);
  if (first === undefined || others.length > 0 || !clientsHaveAnother) return false;
  return isJustBack(first, now) && hasProvenItself(first, carriers);
}

const stuck = ({ name }: Carrier): Verdict =>
  wait(
    'MemberStuck',
    `etcd serves in the pod of ${name}, which does not become ready, so that no client is led to it: see its Events, and correct what was changed last`,
  );

/** Clocks of nodes may be wrong either way: then it is waited for. */
const isJustBack = ({ unreadySince = 0, hasFallenUnready }: Carrier, now: number): boolean =>
  hasFallenUnready !== true && Math.abs(now - unreadySince) < longestUntilToldMillis;

/** Where nobody who was made like this has become ready yet, it may be for the change that it does not: one is enough to see. */
const hasProvenItself = (carrier: Carrier, carriers: readonly Carrier[]): boolean =>
  carriers.some((other) => other.ready && isAlike(other, carrier));
