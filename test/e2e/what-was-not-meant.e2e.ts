import { expect } from 'vitest';
import { namesOf, shown } from '../support/api.ts';
import { coreos, improbable } from '../support/apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { toldOf } from '../support/conditions.ts';
import { eventsSay } from '../support/events.ts';
import { installFor, installForBoth } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { condition, field, inSeconds, waitFor, waitForDeletion } from '../support/waits.ts';

const version = '3.6.16';
const peers = 'etcdpeers.etcd.improbable.io';

story.asOnTheLab('an EtcdPeer that somebody else has made stands for nobody, and is never deleted', async (told) => {
  const { kubectl, step } = told;
  const db = declaredIn(improbable)(kubectl);
  const made = (name: string): string =>
    JSON.stringify({
      ...{ apiVersion: improbable.apiVersion, kind: 'EtcdPeer', metadata: { name } },
      spec: { clusterName: 'db', bootstrap: { initialClusterState: 'New' } },
    });
  await installFor(improbable, told);
  await step('it is told that nothing is done for it', async () => {
    for (const name of ['db-1', 'db-7']) await kubectl('create -f -', { input: made(name) });
    for (const name of ['db-1', 'db-7'])
      await eventsSay(kubectl, { reason: 'BadSpec', name }, ['nothing is done for this EtcdPeer']);
    for (const kind of ['pods', 'persistentvolumeclaims'])
      expect(await namesOf(kubectl, `${kind} -l app.kubernetes.io/name=etcd`)).toEqual([]);
  });
  await step('a cluster that needs its name says so', async () => {
    await db.apply({ size: 3, version });
    await toldOf(db, 'EtcdPeer db-1 exists and does not belong to this cluster: delete it', 60);
  });
  await step('and serves all the same; when it is gone, all is well, and the other one is still there', async () => {
    await db.settled(3);
    await kubectl(`delete ${peers} db-1`);
    await waitFor(kubectl, db.resource, condition('Degraded', 'False'));
    expect(await shown(kubectl, `${peers}/db-1`, '.metadata.ownerReferences[0].name')).toBe('db');
    expect(await shown(kubectl, `${peers}/db-7`, '.metadata.ownerReferences')).toBe('');
  });
});

story.asOnTheLab(
  'what others have under the names of members is theirs, and the cluster goes on beside it',
  async (told) => {
    const { kubectl, step } = told;
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
    const isTold = (what: string): Promise<unknown> =>
      eventsSay(kubectl, { reason: 'NameTaken' }, [`${what} has a name that a member of this cluster might have`]);
    await installFor(improbable, told);
    await db.apply({ size: 1, version });
    await db.settled(1);
    await step('volumes that no member could have, of another cluster, or of nobody knows which', async () => {
      const named = (name: string): object => ({ ...labels, [`${prefix}/peer-name`]: name });
      await create(claim('db-backups', {}));
      await create(claim('db-1', { labels: named('db-1'), annotations: { [`${prefix}/cluster-id`]: 'abc' } }));
      await create(claim('db-2', { labels: named('db-2') }));
      for (const name of ['db-1', 'db-2']) await isTold(`PersistentVolumeClaim ${name}`);
      await db.apply({ size: 3, version });
      await db.settled(3);
      expect(await names()).toEqual(['db-0', 'db-3', 'db-4']);
      for (const name of ['db-backups', 'db-1', 'db-2'])
        expect(await shown(kubectl, `pvc/${name}`, '.metadata.deletionTimestamp')).toBe('');
    });
    await step('an EtcdPeer: its number is passed over, and nothing waits for it', async () => {
      await create(peer('db-5', {}));
      await isTold('EtcdPeer db-5');
      await db.apply({ size: 4, version });
      await db.settled(4);
      expect(await names()).toEqual(['db-0', 'db-3', 'db-4', 'db-6']);
      await kubectl('delete pod db-3');
      await db.healed('db-3', 4);
    });
    await step('storage of an EtcdPeer that grew alone is put back, and the cluster is looked after', async () => {
      const more = { spec: { storage: { volumeClaimTemplate: { resources: { requests: { storage: '1Gi' } } } } } };
      await kubectl(`patch ${peers} db-0 --type=merge -p '${JSON.stringify(more)}'`);
      const size = '.spec.storage.volumeClaimTemplate.resources.requests.storage';
      await until('it is put back', async () => {
        return (await shown(kubectl, peers, size)) === '256Mi 256Mi 256Mi 1Gi 256Mi' || undefined;
      });
      await kubectl('delete pod db-0');
      await db.healed('db-0', 4);
    });
    await step('an EtcdPeer of a cluster that is no more is not held by the finalizer of the original', async () => {
      const finalizers = [`etcdpeer.${prefix}/pvc-cleanup`];
      await create(peer('gone-0', { labels: { ...labels, [`${prefix}/cluster-name`]: 'gone' }, finalizers }));
      await kubectl(`delete ${peers} gone-0 --timeout=60s`);
    });
  },
);

story.asOnTheLab('a gap in the numbers of kept volumes is filled, and the others have the data', async (told) => {
  const { kubectl, step } = told;
  const db = declaredIn(improbable)(kubectl);
  const marked = field('.metadata.annotations.etcd\\.improbable\\.io/cluster-id');
  await installFor(improbable, told);
  await db.apply({ size: 3, version });
  await db.settled(3);
  const before = await db.members();
  await db.withMembers((members) => Promise.any(members.map((member) => member.put('kept', 'data'))));
  for (const name of ['db-0', 'db-1', 'db-2']) await waitFor(kubectl, `pvc/${name}`, inSeconds(30, marked));
  await step('the cluster is deleted, and the volume in the middle', async () => {
    await kubectl(`delete ${db.resource}`);
    await waitForDeletion(kubectl, `pods -l ${db.label}`, 90);
    await kubectl('delete pvc db-1');
  });
  await step('declared again, two return and one is made anew', async () => {
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
    const pair = await until('it answers', () =>
      db.withMembers(([member]) => member?.get('kept') ?? Promise.resolve(undefined)),
    );
    expect(Buffer.from(pair.value).toString()).toBe('data');
  });
});

story.onClusters('a class of storage that is not there is told by its name, and another one serves', async (told) => {
  const { kubectl, step } = told;
  const [one, two] = [declaredIn(coreos)(kubectl, 'one'), declaredIn(improbable)(kubectl, 'two')];
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '256Mi' } } };
  const lost = { ...claim, storageClassName: 'nowhere' };
  const spec = { size: 1, version };
  await installForBoth(told);
  await step('told', async () => {
    await one.apply({ ...spec, pod: { persistentVolumeClaimSpec: lost } });
    await two.apply({ ...spec, extra: { storage: { volumeClaimTemplate: lost } } });
    for (const each of [one, two])
      expect(await toldOf(each, 'StorageClass nowhere', 60)).toMatchObject({ reason: 'MemberStuck' });
  });
  await step('corrected in the one API; in the other, where storage cannot be changed, declared anew', async () => {
    await one.apply({ ...spec, durable: true });
    await kubectl(`delete ${two.resource}`);
    await two.apply(spec);
    for (const each of [one, two]) await each.settled(1);
    await until('no claim of the other class is left', async () => {
      const classes = await shown(kubectl, 'persistentvolumeclaims', '.spec.storageClassName');
      return !classes.includes('nowhere') || undefined;
    });
  });
});
