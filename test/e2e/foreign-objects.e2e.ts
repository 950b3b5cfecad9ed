import { expect } from 'vitest';
import { fieldOf, namesOf } from '../support/api.ts';
import { coreos, improbable } from '../support/apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { degradedWith } from '../support/conditions.ts';
import { eventsContain } from '../support/events.ts';
import { installFor, installForBoth } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { condition, field, inSeconds, waitFor, waitForDeletion } from '../support/waits.ts';

const version = '3.6.16';
const peers = 'etcdpeers.etcd.improbable.io';

story.asOnTheLab('a foreign EtcdPeer is ignored, reported and never deleted', async (context) => {
  const { kubectl, step } = context;
  const db = declaredIn(improbable)(kubectl);
  const made = (name: string): string =>
    JSON.stringify({
      ...{ apiVersion: improbable.apiVersion, kind: 'EtcdPeer', metadata: { name } },
      spec: { clusterName: 'db', bootstrap: { initialClusterState: 'New' } },
    });
  await installFor(improbable, context);
  await step('an Event reports that the foreign EtcdPeer is ignored', async () => {
    for (const name of ['db-1', 'db-7']) await kubectl('create -f -', { input: made(name) });
    for (const name of ['db-1', 'db-7'])
      await eventsContain(kubectl, { reason: 'BadSpec', name }, ['this EtcdPeer is ignored']);
    for (const kind of ['pods', 'persistentvolumeclaims'])
      expect(await namesOf(kubectl, `${kind} -l app.kubernetes.io/name=etcd`)).toEqual([]);
  });
  await step('a cluster reports the name conflict', async () => {
    await db.apply({ size: 3, version });
    await degradedWith(db, 'EtcdPeer db-1 exists and does not belong to this cluster: delete it', 60);
  });
  await step('the cluster serves; after the deletion the operator creates its own EtcdPeer', async () => {
    await db.settled(3);
    await kubectl(`delete ${peers} db-1`);
    await waitFor(kubectl, db.resource, condition('Degraded', 'False'));
    expect(await fieldOf(kubectl, `${peers}/db-1`, '.metadata.ownerReferences[0].name')).toBe('db');
    expect(await fieldOf(kubectl, `${peers}/db-7`, '.metadata.ownerReferences')).toBe('');
  });
});

story.asOnTheLab(
  'foreign PVCs and EtcdPeers with member names are kept, and the cluster uses other names',
  async (context) => {
    const { kubectl, step } = context;
    const db = declaredIn(improbable)(kubectl);
    const prefix = 'etcd.improbable.io';
    const labels = { 'app.kubernetes.io/name': 'etcd', [`${prefix}/cluster-name`]: 'db' };
    const create = (object: object): Promise<unknown> => kubectl('create -f -', { input: JSON.stringify(object) });
    const claim = (name: string, metadata: object): object => ({
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name, labels, ...metadata } },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '256Mi' } } },
    });
    const peer = (name: string, metadata: object): object => ({
      ...{ apiVersion: improbable.apiVersion, kind: 'EtcdPeer', metadata: { name, labels, ...metadata } },
      spec: { clusterName: 'db', bootstrap: { initialClusterState: 'New' } },
    });
    const names = async (): Promise<readonly string[]> => (await db.members()).map(({ name }) => name).toSorted();
    const isReported = (what: string): Promise<unknown> =>
      eventsContain(kubectl, { reason: 'NameTaken' }, [
        `${what} does not belong to this cluster but has a member name`,
      ]);
    await installFor(improbable, context);
    await db.apply({ size: 1, version });
    await db.settled(1);
    await step('foreign PVCs, with and without a cluster ID, are reported and kept', async () => {
      const named = (name: string): object => ({ ...labels, [`${prefix}/peer-name`]: name });
      await create(claim('db-backups', {}));
      await create(claim('db-1', { labels: named('db-1'), annotations: { [`${prefix}/cluster-id`]: 'abc' } }));
      await create(claim('db-2', { labels: named('db-2') }));
      for (const name of ['db-1', 'db-2']) await isReported(`PersistentVolumeClaim ${name}`);
      await db.apply({ size: 3, version });
      await db.settled(3);
      expect(await names()).toEqual(['db-0', 'db-3', 'db-4']);
      for (const name of ['db-backups', 'db-1', 'db-2'])
        expect(await fieldOf(kubectl, `pvc/${name}`, '.metadata.deletionTimestamp')).toBe('');
    });
    await step('the number of a foreign EtcdPeer is skipped', async () => {
      await create(peer('db-5', {}));
      await isReported('EtcdPeer db-5');
      await db.apply({ size: 4, version });
      await db.settled(4);
      expect(await names()).toEqual(['db-0', 'db-3', 'db-4', 'db-6']);
      await kubectl('delete pod db-3');
      await db.healed('db-3', 4);
    });
    await step('an edited storage size of an EtcdPeer is reverted', async () => {
      const more = { spec: { storage: { volumeClaimTemplate: { resources: { requests: { storage: '1Gi' } } } } } };
      await kubectl(`patch ${peers} db-0 --type=merge -p '${JSON.stringify(more)}'`);
      const size = '.spec.storage.volumeClaimTemplate.resources.requests.storage';
      await until('the storage size is reverted', async () => {
        return (await fieldOf(kubectl, peers, size)) === '256Mi 256Mi 256Mi 1Gi 256Mi' || undefined;
      });
      await kubectl('delete pod db-0');
      await db.healed('db-0', 4);
    });
    await step("an EtcdPeer of a deleted cluster is released from the original's finalizer", async () => {
      const finalizers = [`etcdpeer.${prefix}/pvc-cleanup`];
      await create(peer('gone-0', { labels: { ...labels, [`${prefix}/cluster-name`]: 'gone' }, finalizers }));
      await kubectl(`delete ${peers} gone-0 --timeout=60s`);
    });
  },
);

story.asOnTheLab(
  'a recreated cluster replaces a missing retained PVC, and the other members keep their data',
  async (context) => {
    const { kubectl, step } = context;
    const db = declaredIn(improbable)(kubectl);
    const hasClusterId = field('.metadata.annotations.etcd\\.improbable\\.io/cluster-id');
    await installFor(improbable, context);
    await db.apply({ size: 3, version });
    await db.settled(3);
    const before = await db.members();
    await db.withMembers((members) => Promise.any(members.map((member) => member.put('kept', 'data'))));
    for (const name of ['db-0', 'db-1', 'db-2']) await waitFor(kubectl, `pvc/${name}`, inSeconds(30, hasClusterId));
    await step('the cluster and the middle PVC are deleted', async () => {
      await kubectl(`delete ${db.resource}`);
      await waitForDeletion(kubectl, `pods -l ${db.label}`, 90);
      await kubectl('delete pvc db-1');
    });
    await step('the recreated cluster has two old members and a new one', async () => {
      await db.apply({ size: 3, version });
      await db.settled(3);
      const after = new Map((await db.members()).map(({ name, id }) => [name, id]));
      expect([...after.keys()].toSorted()).toEqual(['db-0', 'db-1', 'db-2']);
      expect(
        before
          .filter(({ name, id }) => after.get(name) === id)
          .map(({ name }) => name)
          .toSorted(),
      ).toEqual(['db-0', 'db-2']);
      const pair = await until('a member answers', () =>
        db.withMembers(([member]) => member?.get('kept') ?? Promise.resolve(undefined)),
      );
      expect(Buffer.from(pair.value).toString()).toBe('data');
    });
  },
);

story.onClusters('a missing StorageClass is reported by name, and a corrected one serves', async (context) => {
  const { kubectl, step } = context;
  const [one, two] = [declaredIn(coreos)(kubectl, 'one'), declaredIn(improbable)(kubectl, 'two')];
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '256Mi' } } };
  const wrong = { ...claim, storageClassName: 'nowhere' };
  const spec = { size: 1, version };
  await installForBoth(context);
  await step('the missing StorageClass is reported', async () => {
    await one.apply({ ...spec, pod: { persistentVolumeClaimSpec: wrong } });
    await two.apply({ ...spec, extra: { storage: { volumeClaimTemplate: wrong } } });
    for (const each of [one, two])
      expect(await degradedWith(each, 'StorageClass nowhere', 60)).toMatchObject({ reason: 'MemberStuck' });
  });
  await step('the coreos cluster is corrected; the improbable cluster is recreated', async () => {
    await one.apply({ ...spec, durable: true });
    await kubectl(`delete ${two.resource}`);
    await two.apply(spec);
    for (const each of [one, two]) await each.settled(1);
    await until('no PVC with the missing StorageClass is left', async () => {
      const classes = await fieldOf(kubectl, 'persistentvolumeclaims', '.spec.storageClassName');
      return !classes.includes('nowhere') || undefined;
    });
  });
});
