import { expect } from 'vitest';
import type { DeclaredCluster } from './cluster.ts';
import type { Kubectl } from './kubectl.ts';

/** Changes when a pod is made again, or its container starts again. */
const bodiesOf = (db: DeclaredCluster, kubectl: Kubectl): Promise<string> =>
  kubectl(
    `get pods -l ${db.label} -o jsonpath={.items[*].metadata.uid}{.items[*].status.containerStatuses[*].restartCount}`,
  );

/** That all three of it are ours after that, and nobody has noticed. */
export async function isTakenOver(db: DeclaredCluster, kubectl: Kubectl, bring: () => Promise<void>): Promise<void> {
  const [ids, bodies] = [await db.ids(), await bodiesOf(db, kubectl)];
  await bring();
  await kubectl(`wait ${db.resource} --for=jsonpath={.status.clusterId} --timeout=60s`);
  await db.settled(3);
  expect(await db.ids()).toEqual(ids);
  expect(await bodiesOf(db, kubectl)).toBe(bodies);
  const owners = await kubectl(`get pods -l ${db.label} -o jsonpath={.items[*].metadata.ownerReferences[*].kind}`);
  expect(owners).toBe('EtcdCluster EtcdCluster EtcdCluster');
}
