import { expect } from 'vitest';
import { podsOf, type Within } from './api.ts';
import type { DeclaredCluster } from './cluster.ts';
import { podUidsAndRestarts } from './served-certificates.ts';
import { field, waitFor } from './waits.ts';

/** Runs `install`, and checks that all three members are adopted without a restart. */
export async function expectAdopted(db: DeclaredCluster, kubectl: Within, install: () => Promise<void>): Promise<void> {
  const [ids, podState] = [await db.ids(), await podUidsAndRestarts(kubectl, db.label)];
  await install();
  await waitFor(kubectl, db.resource, field('.status.clusterId'));
  await db.settled(3);
  expect(await db.ids()).toEqual(ids);
  expect(await podUidsAndRestarts(kubectl, db.label)).toBe(podState);
  const owners = (await podsOf(kubectl, db.label)).flatMap(({ metadata }) => metadata.ownerReferences ?? []);
  expect(owners.map(({ kind }) => kind)).toEqual(['EtcdCluster', 'EtcdCluster', 'EtcdCluster']);
}
