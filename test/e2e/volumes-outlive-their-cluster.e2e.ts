import { expect } from 'vitest';
import { namesOf, shown } from '../support/api.ts';
import { improbable } from '../support/apis.ts';
import { type DeclaredCluster, declaredIn } from '../support/cluster.ts';
import { conditionOf } from '../support/conditions.ts';
import { eventsSay } from '../support/events.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installFor, scaleOperator } from '../support/operator.ts';
import { originalOfImprobable } from '../support/original-improbable.ts';
import { bringUp } from '../support/originals.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { field, inSeconds, waitFor, waitForDeletion } from '../support/waits.ts';

const version = '3.6.16';
const claims = 'persistentvolumeclaims';
const clusterId = '.metadata.annotations.etcd\\.improbable\\.io/cluster-id';

const put = (db: DeclaredCluster, key: string): Promise<unknown> =>
  db.withMembers((members) => Promise.any(members.map((member) => member.put(key, 'kept'))));
const get = async (db: DeclaredCluster, key: string): Promise<string | undefined> => {
  const pair = await db.withMembers((members) => Promise.any(members.map((member) => member.get(key))));
  return pair === undefined ? undefined : Buffer.from(pair.value).toString();
};

/** Deletes the cluster, and waits until its pods are gone. */
async function remove(db: DeclaredCluster, kubectl: Kubectl): Promise<void> {
  await kubectl(`delete ${db.resource}`);
  await waitForDeletion(kubectl, `pods -l ${db.label}`, 90);
}

/** Waits until the cluster is said to need a person, and gives back why. */
async function trouble(db: DeclaredCluster, kubectl: Kubectl, reason: string): Promise<string> {
  const degraded = (part: string): string => `.status.conditions[?(@.type=="Degraded")].${part}`;
  await waitFor(kubectl, db.resource, inSeconds(90, field(degraded('reason'), reason)));
  return shown(kubectl, db.resource, degraded('message'));
}

story.asOnTheLab('a cluster that is declared again goes on with the volumes it left', async (told) => {
  const { kubectl, step } = told;
  const db = declaredIn(improbable)(kubectl);
  await installFor(improbable, told);
  await db.apply({ size: 3, version });
  await db.settled(3);
  await put(db, 'first');
  const before = await db.ids();
  for (const name of ['db-0', 'db-1', 'db-2']) await waitFor(kubectl, `pvc/${name}`, inSeconds(30, field(clusterId)));
  await step('deleted, it leaves its volumes', async () => {
    await remove(db, kubectl);
    expect(await namesOf(kubectl, claims)).toEqual(['db-0', 'db-1', 'db-2']);
  });
  await step('declared again, and smaller, all of its members start first', async () => {
    await db.apply({ size: 1, version });
    await db.settled(1);
    expect(before).toEqual(expect.arrayContaining([...(await db.ids())]));
    expect(await get(db, 'first')).toBe('kept');
  });
  await step(
    'volumes of members that were removed are kept, and deleted when the spec no longer asks for that',
    async () => {
      await waitFor(kubectl, db.resource, inSeconds(30, field('.status.keptVolumes[1].name')));
      expect(await namesOf(kubectl, claims)).toEqual(['db-0', 'db-1', 'db-2']);
      await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"keepRemovedVolumesSeconds":1}}'`);
      for (const each of ['pvc/db-1', 'pvc/db-2']) await waitForDeletion(kubectl, each, 90);
      await eventsSay(kubectl, { name: 'db' }, ['Deleted PersistentVolumeClaim db-1 of removed member db-1']);
    },
  );
  await step('where it is to take them along, it leaves nothing', async () => {
    await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"storage":{"volumeClaimPolicy":"Delete"}}}'`);
    await waitFor(kubectl, 'pvc/db-0', inSeconds(30, field('.metadata.ownerReferences[0].name', 'db')));
    await remove(db, kubectl);
    await waitForDeletion(kubectl, 'pvc/db-0');
  });
});

story.asOnTheLab('volumes that are gone or not of one cluster are told of, and nothing starts as new', async (told) => {
  const { kubectl, step } = told;
  const [db, other] = ['db', 'one'].map((name) => declaredIn(improbable)(kubectl, name));
  if (db === undefined || other === undefined) return;
  await installFor(improbable, told);
  await db.apply({ size: 3, version });
  await other.apply({ size: 1, version });
  await db.settled(3);
  await other.settled(1);
  const id = await shown(kubectl, 'pvc/one-0', clusterId);
  await step('a cluster of one whose volume vanishes does not begin again', async () => {
    await scaleOperator(told, 0); // which would have had another member take its place before its pod went
    await kubectl('delete pvc one-0 --wait=false');
    await kubectl('delete pod one-0');
    await scaleOperator(told, 1);
    expect(await trouble(other, kubectl, 'QuorumLost')).toContain('restore a backup');
    expect(await namesOf(kubectl, 'pods -l etcd.improbable.io/cluster-name=one')).toEqual([]);
  });
  for (const name of ['db-0', 'db-1', 'db-2']) await waitFor(kubectl, `pvc/${name}`, inSeconds(30, field(clusterId)));
  await remove(db, kubectl);
  await step('volumes of two clusters under one name', async () => {
    const foreign = { metadata: { annotations: { 'etcd.improbable.io/cluster-id': `${id}0` } } };
    const right = await shown(kubectl, 'pvc/db-2', clusterId);
    await kubectl(`patch pvc db-2 --type=merge -p '${JSON.stringify(foreign)}'`);
    await db.apply({ size: 3, version });
    expect(await trouble(db, kubectl, 'WrongCluster')).toContain('delete the claims that are not meant');
    expect(await db.podNames()).toEqual([]);
    await kubectl(`delete ${db.resource}`);
    foreign.metadata.annotations['etcd.improbable.io/cluster-id'] = right;
    await kubectl(`patch pvc db-2 --type=merge -p '${JSON.stringify(foreign)}'`);
  });
  await step('a majority of volumes is gone', async () => {
    await kubectl('delete pvc db-1 db-2');
    await db.apply({ size: 3, version });
    expect(await trouble(db, kubectl, 'QuorumLost')).toContain('2 of 3 members have lost their data');
    expect(await namesOf(kubectl, `${claims} -l ${db.label}`)).toEqual(['db-0']);
  });
});

story.asOnTheLab(
  'volumes that the original left are gone on with, and no member with an empty one starts beside',
  async (told) => {
    const { kubectl, step } = told;
    const was = { size: 3, version: '3.5.35' };
    const [db, one] = [
      await bringUp(originalOfImprobable, { ...was, name: 'db' }, told),
      await bringUp(originalOfImprobable, { ...was, name: 'one', size: 1 }, told),
    ];
    await put(one, 'first');
    for (const each of [db, one]) await remove(each, kubectl);
    await kubectl('delete pvc db-1 db-2');
    await installFor(improbable, told);
    await step('one of one is enough: it has the data, and the others join it', async () => {
      await one.apply(was);
      await one.settled(3);
      expect(await get(one, 'first')).toBe('kept');
    });
    await step('one of three is not: it waits, is told of, and stays all that there is', async () => {
      await db.apply(was);
      await until('it is told of', async () => {
        const progressing = await conditionOf(db, 'Progressing');
        const says = /waiting for db-0 to go on with the volumes that were left .* restore a backup$/;
        return (progressing?.reason === 'Forming' && says.test(progressing.message ?? '')) || undefined;
      });
      await waitFor(kubectl, 'pod/db-0', field('.status.containerStatuses[0].state.running'));
      expect(await kubectl(`get ${claims},pods -l ${db.label} -o name`)).toBe('persistentvolumeclaim/db-0\npod/db-0\n');
    });
  },
);
