import { expect } from 'vitest';
import { podsOf, type Within } from './api.ts';
import type { DeclaredCluster } from './cluster.ts';
import { bodiesOf } from './shown.ts';
import { field, waitFor } from './waits.ts';

/** That all three of it are ours after that, and nobody has noticed. */
export async function isTakenOver(db: DeclaredCluster, kubectl: Within, bring: () => Promise<void>): Promise<void> {
  const [ids, bodies] = [await db.ids(), await bodiesOf(kubectl, db.label)];
  await bring();
  await waitFor(kubectl, db.resource, field('.status.clusterId'));
  await db.settled(3);
  expect(await db.ids()).toEqual(ids);
  expect(await bodiesOf(kubectl, db.label)).toBe(bodies);
  const owners = (await podsOf(kubectl, db.label)).flatMap(({ metadata }) => metadata.ownerReferences ?? []);
  expect(owners.map(({ kind }) => kind)).toEqual(['EtcdCluster', 'EtcdCluster', 'EtcdCluster']);
}
