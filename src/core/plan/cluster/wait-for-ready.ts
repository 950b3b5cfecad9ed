import type { Carrier } from '../../model/cluster.ts';
import { type Verdict, wait } from './step.ts';

/** A kubelet looks once a second, and tells what it saw another second later; this is far beyond. */
const longestUntilToldMillis = 10_000;

/**
 * By now everybody serves by etcd's own word. Whoever is just back is called ready by its kubelet a second or two later, and
 * is waited for at the end; but the next one need not wait for that while clients have somebody else to be led to.
 */
export function waitForReady(
  carriers: readonly Carrier[],
  next: Carrier | undefined,
  now: number,
): Verdict | undefined {
  const unready = carriers.filter(({ ready }) => !ready);
  const [first] = unready;
  if (first === undefined) return undefined;
  const isJustBack = unready.length === 1 && now - (first.unreadySince ?? 0) < longestUntilToldMillis;
  const clientsHaveAnother = carriers.some((carrier) => carrier.ready && carrier !== next);
  if (next !== undefined && isJustBack && clientsHaveAnother) return undefined;
  return wait('Rolling', `waiting for the pod of ${first.name} to be ready`);
}
