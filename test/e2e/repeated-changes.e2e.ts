import { expect } from 'vitest';
import { fieldOf } from '../support/api.ts';
import { coreos, improbable } from '../support/apis.ts';
import { type DeclaredCluster, declaredIn } from '../support/cluster.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installFor } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { field, inSeconds, waitFor } from '../support/waits.ts';

const version = '3.6.16';

for (const api of [coreos, improbable]) {
  const title = (what: string): string => (api === coreos ? what : `${what}, in the improbable API`);

  story.asOnTheLab(title('a size changed several times within seconds ends at the last value'), async (context) => {
    const { kubectl, step } = context;
    const db = declaredIn(api)(kubectl);
    await installFor(api, context);
    await step('the operator is killed while it creates the cluster', async () => {
      await db.apply({ size: 3, version });
      await waitFor(kubectl, db.resource, inSeconds(30, field('.status.bootstrap.token')));
      await kubectl('delete pods -l name=etcd-operator --grace-period=0 --force');
      await db.settled(3);
    });
    const { clusterId } = await db.status();
    await underTraffic(db, async () => {
      await step('scaled to five, one and three within seconds', async () => {
        await kubectl(`scale ${db.resource} --replicas=5`);
        await until('a fourth member', async () => (await db.members()).length > 3 || undefined);
        await kubectl(`scale ${db.resource} --replicas=1`);
        await until('fewer than three members', async () => (await db.members()).length < 3 || undefined);
        await kubectl(`scale ${db.resource} --replicas=3`);
        await db.settled(3);
      });
      await step('scaled to two, one, two and three within a second', async () => {
        for (const size of [2, 1, 2, 3]) await kubectl(`scale ${db.resource} --replicas=${size}`);
        await db.settled(3);
      });
    });
    expect((await db.status())['clusterId']).toBe(clusterId);
    await step('three pods are left', async () => {
      await until('three pods', async () => (await db.podNames()).length === 3 || undefined);
    });
  });

  story.asOnTheLab(
    title('a cluster recreated under the same name shares no member, volume or data with the old one'),
    async (context) => {
      const { kubectl, step } = context;
      const db = declaredIn(api)(kubectl);
      const spec = { size: 3, version, durable: true, extra: api === coreos ? {} : deletedWithCluster };
      await installFor(api, context);
      await db.apply(spec);
      await db.settled(3);
      await db.withMembers(async ([member]) => member?.put('old', 'cluster'));
      const [{ clusterId: old }, oldIds, oldParts] = [await db.status(), await db.ids(), await partsOf(db, kubectl)];
      await step('the cluster is deleted and recreated at once', async () => {
        await kubectl(`delete ${db.resource} --wait=false`);
        await db.apply(spec);
        await until('a new cluster ID', async () => {
          const { clusterId } = await db.status();
          return (clusterId !== undefined && clusterId !== old) || undefined;
        });
        await db.settled(3);
      });
      await step('pods and PVCs of the old cluster are deleted', async () => {
        await until('its pods and PVCs are gone', async () => {
          const parts = new Set(await partsOf(db, kubectl));
          return oldParts.every((uid) => !parts.has(uid)) || undefined;
        });
      });
      await step('the new cluster has other member IDs and no old data', async () => {
        expect((await db.ids()).filter((id) => oldIds.includes(id))).toEqual([]);
        const read = await until('a member answers', () =>
          db.withMembers(async ([member]) => [await member?.get('old')]),
        );
        expect(read).toEqual([undefined]);
      });
    },
  );

  story.asOnTheLab(
    title('a cluster name of the maximum length is served, and a longer name is refused'),
    async (context) => {
      const { kubectl, step } = context;
      await installFor(api, context);
      await step('a longer name is refused with the maximum length', async () => {
        const tooLong = declaredIn(api)(kubectl, 'n'.repeat(57));
        await expect(tooLong.apply({ size: 1, version })).rejects.toThrow(
          `cannot be more than ${api.longestName} characters long`,
        );
      });
      await step('the longest name is served', async () => {
        const longest = declaredIn(api)(kubectl, 'n'.repeat(api.longestName));
        await longest.apply({ size: 1, version, durable: true });
        await longest.settled(1);
      });
    },
  );
}

/** Volumes are deleted with their cluster, as in the coreos API. */
const deletedWithCluster = {
  storage: {
    volumeClaimTemplate: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '256Mi' } } },
    volumeClaimPolicy: 'Delete',
  },
};

/** The UIDs of pods and PVCs: a recreated object may have the same name. */
async function partsOf(db: DeclaredCluster, kubectl: Kubectl): Promise<readonly string[]> {
  const uidsOf = (kind: string): Promise<string> => fieldOf(kubectl, `${kind} -l ${db.label}`, '.metadata.uid');
  const parts = [await uidsOf('pods'), await uidsOf('persistentvolumeclaims')].join(' ').trim();
  return parts.split(' ').filter(Boolean);
}
