import { expect } from 'vitest';
import { list, namesOf, shown } from '../support/api.ts';
import { coreos } from '../support/apis.ts';
import { inBothApis } from '../support/both-apis.ts';
import { type DeclaredCluster, declaredIn } from '../support/cluster.ts';
import { eventsSay } from '../support/events.ts';
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

/** The volumes that the status names as kept, when there are so many. */
const keptIn = (kubectl: Kubectl, db: DeclaredCluster, count: number): Promise<readonly string[]> =>
  until(`${count} volumes are kept`, async () => {
    const kept = (await shown(kubectl, db.resource, '.status.keptVolumes[*].name')).split(' ').filter(Boolean);
    return kept.length === count ? kept : undefined;
  });

const change = (kubectl: Kubectl, db: DeclaredCluster, spec: object): Promise<unknown> =>
  kubectl(`patch ${db.resource} --type=merge -p '${JSON.stringify({ spec })}'`);

inBothApis(
  story.asOnTheLab,
  'volumes of removed members are kept for their grace time, and no member runs on them again',
  async (api, told) => {
    const { kubectl, step } = told;
    const db = declaredIn(api)(kubectl);
    await installFor(api, told);
    await db.apply({ size: 3, version, durable: true });
    await db.settled(3);
    const all = await namesOf(kubectl, claims);
    const kept = await step('scaled down, two volumes are kept, named in the status and in Events', async () => {
      await change(kubectl, db, { [api.sizeField]: 1 });
      await db.settled(1);
      const names = await keptIn(kubectl, db, 2);
      expect(await namesOf(kubectl, claims)).toEqual(all);
      expect(Date.parse(await shown(kubectl, db.resource, '.status.keptVolumes[0].until'))).toBeGreaterThan(Date.now());
      await eventsSay(
        kubectl,
        { reason: 'VolumeKept' },
        names.map((name) => `PersistentVolumeClaim ${name} of removed`),
      );
      return names;
    });
    await step('scaled up, new members have new volumes', async () => {
      await change(kubectl, db, { [api.sizeField]: 3 });
      await db.settled(3);
      const mounted = await mountedIn(kubectl, db);
      expect(mounted).toHaveLength(3);
      expect(mounted.filter((name) => kept.includes(name))).toEqual([]);
      expect(await namesOf(kubectl, claims)).toHaveLength(5);
    });
    await step('one is deleted by hand, and the other when its time is over', async () => {
      const [first = '', second = ''] = kept;
      await kubectl(`delete ${claims} ${first}`);
      expect(await keptIn(kubectl, db, 1)).toEqual([second]);
      await change(kubectl, db, { keepRemovedVolumesSeconds: 1 });
      await waitForDeletion(kubectl, `${claims}/${second}`, 90);
      await eventsSay(kubectl, { reason: 'VolumeDeleted' }, [second]);
      expect([...(await namesOf(kubectl, claims))]).toEqual([...(await mountedIn(kubectl, db))].toSorted());
      await db.settled(3);
    });
  },
);

story.asOnTheLab(
  'a coreos cluster with volumeClaimPolicy Retain leaves its volumes, and goes on with them',
  async (told) => {
    const { kubectl, step } = told;
    const db = declaredIn(coreos)(kubectl);
    await installFor(coreos, told);
    const spec = { size: 3, version, durable: true, extra: { volumeClaimPolicy: 'Retain' } };
    await db.apply(spec);
    await db.settled(3);
    await db.withMembers(async ([member]) => void (await member?.put('first', 'kept')));
    const [ids, volumes] = [await db.ids(), await namesOf(kubectl, claims)];
    const marks = '.metadata.annotations.etcd\\.database\\.coreos\\.com/cluster-id';
    await until('all volumes say of which cluster they are', async () => {
      const marked = (await shown(kubectl, claims, marks)).split(' ').filter(Boolean);
      return marked.length === 3 || undefined;
    });
    await step('deleted, it leaves its volumes', async () => {
      await kubectl(`delete ${db.resource}`);
      await waitForDeletion(kubectl, `pods -l ${db.label}`, 90);
      expect(await namesOf(kubectl, claims)).toEqual(volumes);
    });
    await step('declared again, it has the same members and data', async () => {
      await db.apply(spec);
      await db.settled(3);
      expect(await db.ids()).toEqual(ids);
      const pair = await db.withMembers(([member]) => member?.get('first') ?? Promise.resolve(undefined));
      expect(Buffer.from(pair?.value ?? []).toString()).toBe('kept');
    });
    await step('with Delete, its volumes go with it', async () => {
      await change(kubectl, db, { volumeClaimPolicy: 'Delete' });
      await until('it owns them', async () => {
        const owners = (await shown(kubectl, claims, '.metadata.ownerReferences[0].name')).split(' ').filter(Boolean);
        return owners.length === 3 || undefined;
      });
      await kubectl(`delete ${db.resource}`);
      for (const name of volumes) await waitForDeletion(kubectl, `${claims}/${name}`, 90);
    });
  },
);
