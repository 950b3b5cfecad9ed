import { expect } from 'vitest';
import { fieldOf, list, namesOf } from '../support/api.ts';
import { coreos } from '../support/apis.ts';
import { inBothApis } from '../support/both-apis.ts';
import { type DeclaredCluster, declaredIn } from '../support/cluster.ts';
import { eventsContain } from '../support/events.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installFor } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { waitForDeletion } from '../support/waits.ts';

const version = '3.6.16';
const claims = 'persistentvolumeclaims';

interface MountingPod {
  readonly spec: { readonly volumes: readonly { readonly persistentVolumeClaim?: { readonly claimName: string } }[] };
}

async function mountedIn(kubectl: Kubectl, db: DeclaredCluster): Promise<readonly string[]> {
  const pods = await list<MountingPod>(kubectl, `pods -l ${db.label}`);
  return pods.flatMap(({ spec }) => spec.volumes.flatMap((volume) => volume.persistentVolumeClaim?.claimName ?? []));
}

/** Waits until the status has this many kept volumes; returns their names. */
const keptIn = (kubectl: Kubectl, db: DeclaredCluster, count: number): Promise<readonly string[]> =>
  until(`${count} volumes are kept`, async () => {
    const kept = (await fieldOf(kubectl, db.resource, '.status.keptVolumes[*].name')).split(' ').filter(Boolean);
    return kept.length === count ? kept : undefined;
  });

const change = (kubectl: Kubectl, db: DeclaredCluster, spec: object): Promise<unknown> =>
  kubectl(`patch ${db.resource} --type=merge -p '${JSON.stringify({ spec })}'`);

inBothApis(
  story.asOnTheLab,
  'PVCs of removed members are kept for keepRemovedVolumesSeconds, and never reused by a member',
  async (api, context) => {
    const { kubectl, step } = context;
    const db = declaredIn(api)(kubectl);
    await installFor(api, context);
    await db.apply({ size: 3, version, durable: true });
    await db.settled(3);
    const all = await namesOf(kubectl, claims);
    const kept = await step('after a scale-down two PVCs are kept, and named in the status and in Events', async () => {
      await change(kubectl, db, { [api.sizeField]: 1 });
      await db.settled(1);
      const names = await keptIn(kubectl, db, 2);
      expect(await namesOf(kubectl, claims)).toEqual(all);
      expect(Date.parse(await fieldOf(kubectl, db.resource, '.status.keptVolumes[0].until'))).toBeGreaterThan(
        Date.now(),
      );
      await eventsContain(
        kubectl,
        { reason: 'VolumeKept' },
        names.map((name) => `PersistentVolumeClaim ${name} of removed`),
      );
      return names;
    });
    await step('after a scale-up new members have new PVCs', async () => {
      await change(kubectl, db, { [api.sizeField]: 3 });
      await db.settled(3);
      const mounted = await mountedIn(kubectl, db);
      expect(mounted).toHaveLength(3);
      expect(mounted.filter((name) => kept.includes(name))).toEqual([]);
      expect(await namesOf(kubectl, claims)).toHaveLength(5);
    });
    await step('one kept PVC is deleted by hand, and the other after keepRemovedVolumesSeconds', async () => {
      const [first = '', second = ''] = kept;
      await kubectl(`delete ${claims} ${first}`);
      expect(await keptIn(kubectl, db, 1)).toEqual([second]);
      await change(kubectl, db, { keepRemovedVolumesSeconds: 1 });
      await waitForDeletion(kubectl, `${claims}/${second}`, 90);
      await eventsContain(kubectl, { reason: 'VolumeDeleted' }, [second]);
      expect([...(await namesOf(kubectl, claims))]).toEqual([...(await mountedIn(kubectl, db))].toSorted());
      await db.settled(3);
    });
  },
);

story.asOnTheLab(
  'a coreos cluster with volumeClaimPolicy Retain leaves its PVCs, and resumes from them when recreated',
  async (context) => {
    const { kubectl, step } = context;
    const db = declaredIn(coreos)(kubectl);
    await installFor(coreos, context);
    const spec = { size: 3, version, durable: true, extra: { volumeClaimPolicy: 'Retain' } };
    await db.apply(spec);
    await db.settled(3);
    await db.withMembers(async ([member]) => void (await member?.put('first', 'kept')));
    const [ids, volumes] = [await db.ids(), await namesOf(kubectl, claims)];
    const clusterIds = '.metadata.annotations.etcd\\.database\\.coreos\\.com/cluster-id';
    await until('all PVCs have the cluster ID', async () => {
      const annotated = (await fieldOf(kubectl, claims, clusterIds)).split(' ').filter(Boolean);
      return annotated.length === 3 || undefined;
    });
    await step('the deleted cluster leaves its PVCs', async () => {
      await kubectl(`delete ${db.resource}`);
      await waitForDeletion(kubectl, `pods -l ${db.label}`, 90);
      expect(await namesOf(kubectl, claims)).toEqual(volumes);
    });
    await step('the recreated cluster has the same members and data', async () => {
      await db.apply(spec);
      await db.settled(3);
      expect(await db.ids()).toEqual(ids);
      const pair = await db.withMembers(([member]) => member?.get('first') ?? Promise.resolve(undefined));
      expect(Buffer.from(pair?.value ?? []).toString()).toBe('kept');
    });
    await step('with volumeClaimPolicy Delete, the PVCs are deleted with the cluster', async () => {
      await change(kubectl, db, { volumeClaimPolicy: 'Delete' });
      await until('the cluster owns its PVCs', async () => {
        const owners = (await fieldOf(kubectl, claims, '.metadata.ownerReferences[0].name')).split(' ').filter(Boolean);
        return owners.length === 3 || undefined;
      });
      await kubectl(`delete ${db.resource}`);
      for (const name of volumes) await waitForDeletion(kubectl, `${claims}/${name}`, 90);
    });
  },
);
