import { expect } from 'vitest';
import { shown } from '../support/api.ts';
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
  const title = (what: string): string => (api === coreos ? what : `${what}, in the API of the talk`);

  story.asOnTheLab(title('any change of mind ends at the last word'), async (told) => {
    const { kubectl, step } = told;
    const db = declaredIn(api)(kubectl);
    await installFor(api, told);
    await step('the operator is killed while it creates the cluster', async () => {
      await db.apply({ size: 3, version });
      await waitFor(kubectl, db.resource, inSeconds(30, field('.status.bootstrap.token')));
      await kubectl('delete pods -l name=etcd-operator --grace-period=0 --force');
      await db.settled(3);
    });
    const { clusterId } = await db.status();
    await underTraffic(db, async () => {
      await step('five, one and three again, within seconds', async () => {
        await kubectl(`scale ${db.resource} --replicas=5`);
        await until('a fourth member', async () => (await db.members()).length > 3 || undefined);
        await kubectl(`scale ${db.resource} --replicas=1`);
        await until('fewer again', async () => (await db.members()).length < 3 || undefined);
        await kubectl(`scale ${db.resource} --replicas=3`);
        await db.settled(3);
      });
      await step('two and one within a second', async () => {
        for (const size of [2, 1, 2, 3]) await kubectl(`scale ${db.resource} --replicas=${size}`);
        await db.settled(3);
      });
    });
    expect((await db.status())['clusterId']).toBe(clusterId);
    await step('no more pods than members', async () => {
      await until('three pods', async () => (await db.podNames()).length === 3 || undefined);
    });
  });

  story.asOnTheLab(title('a new cluster under an old name never meets the old one'), async (told) => {
    const { kubectl, step } = told;
    const db = declaredIn(api)(kubectl);
    const spec = { size: 3, version, durable: true, extra: api === coreos ? {} : takenAlong };
    await installFor(api, told);
    await db.apply(spec);
    await db.settled(3);
    await db.withMembers(async ([member]) => member?.put('old', 'cluster'));
    const [{ clusterId: old }, oldIds, oldParts] = [await db.status(), await db.ids(), await partsOf(db, kubectl)];
    await step('deleted, and made again at once', async () => {
      await kubectl(`delete ${db.resource} --wait=false`);
      await db.apply(spec);
      await until('another cluster', async () => {
        const { clusterId } = await db.status();
        return (clusterId !== undefined && clusterId !== old) || undefined;
      });
      await db.settled(3);
    });
    await step('nothing of the old one is left', async () => {
      await until('its pods and disks are gone', async () => {
        const parts = new Set(await partsOf(db, kubectl));
        return oldParts.every((uid) => !parts.has(uid)) || undefined;
      });
    });
    await step('the new one has other members and none of the data', async () => {
      expect((await db.ids()).filter((id) => oldIds.includes(id))).toEqual([]);
      const read = await until('it answers', () => db.withMembers(async ([member]) => [await member?.get('old')]));
      expect(read).toEqual([undefined]);
    });
  });

  story.asOnTheLab(title('names may be as long as names can be'), async (told) => {
    const { kubectl, step } = told;
    await installFor(api, told);
    await step('one too long is refused, with what would do', async () => {
      const tooLong = declaredIn(api)(kubectl, 'n'.repeat(57));
      await expect(tooLong.apply({ size: 1, version })).rejects.toThrow(
        `cannot be more than ${api.longestName} characters long`,
      );
    });
    await step('the longest serves', async () => {
      const longest = declaredIn(api)(kubectl, 'n'.repeat(api.longestName));
      await longest.apply({ size: 1, version, durable: true });
      await longest.settled(1);
    });
  });
}

/** As in the other API, disks go with their cluster. */
const takenAlong = {
  storage: {
    volumeClaimTemplate: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '256Mi' } } },
    volumeClaimPolicy: 'Delete',
  },
};

/** Pods and disks, which may have the names of those that were before them. */
async function partsOf(db: DeclaredCluster, kubectl: Kubectl): Promise<readonly string[]> {
  const uidsOf = (kind: string): Promise<string> => shown(kubectl, `${kind} -l ${db.label}`, '.metadata.uid');
  const parts = [await uidsOf('pods'), await uidsOf('persistentvolumeclaims')].join(' ').trim();
  return parts.split(' ').filter(Boolean);
}
