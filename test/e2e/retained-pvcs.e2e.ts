import { expect } from 'vitest';
import { fieldOf, namesOf } from '../support/api.ts';
import { improbable } from '../support/apis.ts';
import { type DeclaredCluster, declaredIn } from '../support/cluster.ts';
import { conditionOf } from '../support/conditions.ts';
import { eventsContain } from '../support/events.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installFor, scaleOperator } from '../support/operator.ts';
import { originalOfImprobable } from '../support/original-improbable.ts';
import { createOriginal } from '../support/originals.ts';
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

/** Waits until the cluster is Degraded with this reason; returns the message. */
async function degradedMessage(db: DeclaredCluster, kubectl: Kubectl, reason: string): Promise<string> {
  const degraded = (part: string): string => `.status.conditions[?(@.type=="Degraded")].${part}`;
  await waitFor(kubectl, db.resource, inSeconds(90, field(degraded('reason'), reason)));
  return fieldOf(kubectl, db.resource, degraded('message'));
}

story.asOnTheLab('a recreated cluster resumes from its retained PVCs', async (context) => {
  const { kubectl, step } = context;
  const db = declaredIn(improbable)(kubectl);
  await installFor(improbable, context);
  await db.apply({ size: 3, version });
  await db.settled(3);
  await put(db, 'first');
  const before = await db.ids();
  for (const name of ['db-0', 'db-1', 'db-2']) await waitFor(kubectl, `pvc/${name}`, inSeconds(30, field(clusterId)));
  await step('the deleted cluster leaves its PVCs', async () => {
    await remove(db, kubectl);
    expect(await namesOf(kubectl, claims)).toEqual(['db-0', 'db-1', 'db-2']);
  });
  await step('recreated with a smaller size, the cluster starts all members before it removes two', async () => {
    await db.apply({ size: 1, version });
    await db.settled(1);
    expect(before).toEqual(expect.arrayContaining([...(await db.ids())]));
    expect(await get(db, 'first')).toBe('kept');
  });
  await step('PVCs of removed members are kept until keepRemovedVolumesSeconds has passed', async () => {
    await waitFor(kubectl, db.resource, inSeconds(30, field('.status.keptVolumes[1].name')));
    expect(await namesOf(kubectl, claims)).toEqual(['db-0', 'db-1', 'db-2']);
    await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"keepRemovedVolumesSeconds":1}}'`);
    for (const each of ['pvc/db-1', 'pvc/db-2']) await waitForDeletion(kubectl, each, 90);
    await eventsContain(kubectl, { name: 'db' }, ['Deleted PersistentVolumeClaim db-1 of removed member db-1']);
  });
  await step('with volumeClaimPolicy Delete, the deleted cluster leaves no PVC', async () => {
    await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"storage":{"volumeClaimPolicy":"Delete"}}}'`);
    await waitFor(kubectl, 'pvc/db-0', inSeconds(30, field('.metadata.ownerReferences[0].name', 'db')));
    await remove(db, kubectl);
    await waitForDeletion(kubectl, 'pvc/db-0');
  });
});

story.asOnTheLab(
  'lost PVCs and PVCs of two clusters are reported, and no empty cluster is created',
  async (context) => {
    const { kubectl, step } = context;
    const [db, other] = ['db', 'one'].map((name) => declaredIn(improbable)(kubectl, name));
    if (db === undefined || other === undefined) return;
    await installFor(improbable, context);
    await db.apply({ size: 3, version });
    await other.apply({ size: 1, version });
    await db.settled(3);
    await other.settled(1);
    const id = await fieldOf(kubectl, 'pvc/one-0', clusterId);
    await step('a cluster of one that lost its PVC does not bootstrap again', async () => {
      await scaleOperator(context, 0); // a running operator would replace the member before its pod goes
      await kubectl('delete pvc one-0 --wait=false');
      await kubectl('delete pod one-0');
      await scaleOperator(context, 1);
      expect(await degradedMessage(other, kubectl, 'QuorumLost')).toContain('restore a backup');
      expect(await namesOf(kubectl, 'pods -l etcd.improbable.io/cluster-name=one')).toEqual([]);
    });
    for (const name of ['db-0', 'db-1', 'db-2']) await waitFor(kubectl, `pvc/${name}`, inSeconds(30, field(clusterId)));
    await remove(db, kubectl);
    await step('PVCs with two cluster IDs', async () => {
      const foreign = { metadata: { annotations: { 'etcd.improbable.io/cluster-id': `${id}0` } } };
      const right = await fieldOf(kubectl, 'pvc/db-2', clusterId);
      await kubectl(`patch pvc db-2 --type=merge -p '${JSON.stringify(foreign)}'`);
      await db.apply({ size: 3, version });
      expect(await degradedMessage(db, kubectl, 'WrongCluster')).toContain('delete the PVCs of the wrong cluster');
      expect(await db.podNames()).toEqual([]);
      await kubectl(`delete ${db.resource}`);
      foreign.metadata.annotations['etcd.improbable.io/cluster-id'] = right;
      await kubectl(`patch pvc db-2 --type=merge -p '${JSON.stringify(foreign)}'`);
    });
    await step('two of three PVCs are deleted', async () => {
      await kubectl('delete pvc db-1 db-2');
      await db.apply({ size: 3, version });
      expect(await degradedMessage(db, kubectl, 'QuorumLost')).toContain('2 of 3 members have lost their data');
      expect(await namesOf(kubectl, `${claims} -l ${db.label}`)).toEqual(['db-0']);
    });
  },
);

story.asOnTheLab(
  'a cluster resumes from retained PVCs of the original, and no member with an empty PVC starts',
  async (context) => {
    const { kubectl, step } = context;
    const spec = { size: 3, version: '3.5.35' };
    const [db, one] = [
      await createOriginal(originalOfImprobable, { ...spec, name: 'db' }, context),
      await createOriginal(originalOfImprobable, { ...spec, name: 'one', size: 1 }, context),
    ];
    await put(one, 'first');
    for (const each of [db, one]) await remove(each, kubectl);
    await kubectl('delete pvc db-1 db-2');
    await installFor(improbable, context);
    await step('one retained PVC of one member: the member starts with its data, and others join', async () => {
      await one.apply(spec);
      await one.settled(3);
      expect(await get(one, 'first')).toBe('kept');
    });
    await step('one retained PVC of three members: the member waits, and no other member is created', async () => {
      await db.apply(spec);
      await until('the wait is reported', async () => {
        const progressing = await conditionOf(db, 'Progressing');
        const message = /waiting for db-0 to start on retained PVCs.* restore a backup$/;
        return (progressing?.reason === 'Forming' && message.test(progressing.message ?? '')) || undefined;
      });
      await waitFor(kubectl, 'pod/db-0', field('.status.containerStatuses[0].state.running'));
      expect(await kubectl(`get ${claims},pods -l ${db.label} -o name`)).toBe('persistentvolumeclaim/db-0\npod/db-0\n');
    });
  },
);
