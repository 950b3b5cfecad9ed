import { expect } from 'vitest';
import { fieldOf, namesOf } from '../support/api.ts';
import { improbable } from '../support/apis.ts';
import { applyBackup, backedUp, backUpImprobable, claimManifest, resourceOf } from '../support/backups.ts';
import { declared, declaredIn } from '../support/cluster.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installFor, installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { allKeys, writeKeys } from '../support/test-keys.ts';
import { clientAccessIn } from '../support/tls-cluster.ts';
import { until } from '../support/until.ts';
import { condition, field, inSeconds, waitFor, waitForDeletion } from '../support/waits.ts';

const [old, version] = ['3.5.35', '3.6.16'];
const restores = 'etcdrestores.etcd.improbable.io';

interface RestoreSpec {
  readonly url: string;
  readonly cluster: string;
  readonly replicas: number;
  readonly replaceExisting?: true;
  /** More fields of the cluster's spec. */
  readonly extra?: object;
}

async function applyRestore(kubectl: Kubectl, name: string, asked: RestoreSpec): Promise<void> {
  const { url, cluster, replicas, extra, ...more } = asked;
  const clusterTemplate = {
    clusterName: cluster,
    spec: { ...improbable.specOf({ size: replicas, version }), ...extra },
  };
  const spec = { source: { objectURL: url }, clusterTemplate, ...more };
  const resource = { apiVersion: improbable.apiVersion, kind: 'EtcdRestore', metadata: { name }, spec };
  await kubectl('apply -f -', { input: JSON.stringify(resource) });
}

/** Waits until a restore has failed; returns its reason. */
async function failed(kubectl: Kubectl, name: string): Promise<string> {
  await waitFor(kubectl, `${restores}/${name}`, inSeconds(120, field('.status.phase', 'Failed')));
  return fieldOf(kubectl, `${restores}/${name}`, '.status.reason');
}

story.asOnTheLab('a restore creates a cluster of numbered members, or changes nothing if it fails', async (context) => {
  const { kubectl, step } = context;
  const db = declaredIn(improbable)(kubectl);
  const copy = declaredIn(improbable)(kubectl, 'copy', () => clientAccessIn(kubectl, 'copy-client-tls'));
  await installFor(improbable, context);
  const before = await step('a cluster of an older etcd is saved to a PVC', async () => {
    await kubectl('apply -f -', { input: claimManifest('backups') });
    await db.apply({ size: 1, version: old });
    await db.settled(1);
    await writeKeys(db, 'good');
    const status = await backUpImprobable(kubectl, 'db', 'file://backups/{{ .Name }}.snapshot');
    const saved = { etcdVersion: old, revision: 21, verified: true, url: 'file://backups/db.snapshot' };
    expect(status).toMatchObject(saved);
    return allKeys(db);
  });
  await step('a damaged or missing snapshot creates no cluster', async () => {
    const wanted = { cluster: 'copy', replicas: 1 };
    await applyRestore(kubectl, 'damaged', { ...wanted, url: 'file://backups/db.snapshot.manifest.json' });
    expect(await failed(kubectl, 'damaged')).toMatch(/"copy" was not created: .*is not a whole snapshot/);
    await applyRestore(kubectl, 'missing', { ...wanted, url: 'file://backups/db' });
    expect(await failed(kubectl, 'missing')).toContain('objects that begin with "db": db.snapshot');
    expect(await kubectl.refused(`get ${copy.resource}`)).toContain('not found');
  });
  await step('an existing cluster is not changed', async () => {
    const ids = await db.ids();
    await applyRestore(kubectl, 'taken', { url: 'file://backups/db.snapshot', cluster: 'db', replicas: 3 });
    expect(await failed(kubectl, 'taken')).toContain('there is an EtcdCluster "db" already');
    expect(await db.ids()).toEqual(ids);
  });
  await step(
    'a restore into a new cluster of a newer etcd with TLS completes although the operator is killed',
    async () => {
      const extra = { tls: { managed: {} } };
      await applyRestore(kubectl, 'again', { url: 'file://backups/db.snapshot', cluster: 'copy', replicas: 3, extra });
      await until('the restore creates the first member', async () => {
        const stage = await fieldOf(kubectl, `${restores}/again`, '.status.stage');
        return (stage !== '' && stage !== 'Proving') || undefined;
      });
      await kubectl('delete pods -l name=etcd-operator --grace-period=0 --force');
      await waitFor(kubectl, `${restores}/again`, inSeconds(240, field('.status.phase', 'Completed')));
      await copy.settled(3);
      expect(await allKeys(copy)).toEqual(before);
      expect(await copy.status()).toMatchObject({ serverVersion: version });
      expect((await copy.podNames()).toSorted()).toEqual(['copy-0', 'copy-1', 'copy-2']);
    },
  );
  await step('the PVCs of the restored cluster have its cluster ID, and the cluster outlives the restore', async () => {
    const id = (await copy.status())['clusterId'];
    for (const claim of ['copy-0', 'copy-1', 'copy-2'])
      await waitFor(
        kubectl,
        `persistentvolumeclaim/${claim}`,
        field('.metadata.annotations.etcd\\.improbable\\.io/cluster-id', String(id)),
      );
    const restored = 'etcdclusters.etcd.improbable.io -l etcd.improbable.io/restored-from=again';
    expect(await namesOf(kubectl, restored)).toEqual(['copy']);
    await kubectl(`delete ${restores} --all`);
    await kubectl(`delete pod ${(await copy.podNames()).join(' ')}`);
    await copy.settled(3);
    expect(await allKeys(copy)).toEqual(before);
  });
  await step(
    'with replaceExisting, a restore replaces the members, keeps the Services and the old volumes',
    async () => {
      await writeKeys(copy, 'newer');
      const service = await fieldOf(kubectl, 'service/copy-client', '.metadata.uid');
      const wanted = {
        url: 'file://backups/db.snapshot',
        cluster: 'copy',
        replicas: 1,
        replaceExisting: true,
      } as const;
      await applyRestore(kubectl, 'back', wanted);
      await waitFor(kubectl, `${restores}/back`, inSeconds(240, field('.status.phase', 'Completed')));
      await copy.settled(3);
      expect(await allKeys(copy)).toEqual(before);
      expect((await copy.podNames()).toSorted()).toEqual(['copy-3', 'copy-4', 'copy-5']);
      expect(await fieldOf(kubectl, 'service/copy-client', '.metadata.uid')).toBe(service);
      await waitFor(kubectl, copy.resource, inSeconds(60, field('.status.keptVolumes[1].member', 'copy-1')));
      await kubectl(`patch ${copy.resource} --type=merge -p '{"spec":{"keepRemovedVolumesSeconds":1}}'`);
      await kubectl('wait persistentvolumeclaim/copy-0 persistentvolumeclaim/copy-1 --for=delete --timeout=90s');
    },
  );
});

story.asOnTheLab('a deleted cluster with managed TLS is recreated from its backup alone', async (context) => {
  const { kubectl, step } = context;
  const withManagedTls = (name: string) => declared(kubectl, name, () => clientAccessIn(kubectl, `${name}-client-tls`));
  const [db, copy] = [withManagedTls('db'), withManagedTls('copy')];
  const pvc = { claimName: 'backups', path: 'db' };
  const restore = (name: string, etcdCluster: object): Promise<string> =>
    kubectl('apply -f -', { input: resourceOf('EtcdRestore', name, { etcdCluster, backupStorageType: 'PVC', pvc }) });
  await installOperator(context);
  const before = await step('the cluster is saved to a PVC', async () => {
    await kubectl('apply -f -', { input: claimManifest('backups') });
    await db.apply({ size: 3, version: '3.5.35', extra: { TLS: { managed: {} } } });
    await db.settled(3);
    await writeKeys(db, 'good');
    await applyBackup(kubectl, 'saved', { etcdCluster: { name: 'db' }, storageType: 'PVC', pvc });
    await backedUp(kubectl, 'saved');
    return allKeys(db);
  });
  await step('a restore is refused while the cluster exists', async () => {
    await restore('too-soon', { name: 'db', create: 'FromBackup' });
    await waitFor(kubectl, 'etcdrestore/too-soon', inSeconds(120, condition('Succeeded', 'False')));
    const reason = await fieldOf(kubectl, 'etcdrestore/too-soon', '.status.reason');
    expect(reason).toContain('there is an EtcdCluster "db" already');
  });
  await step('after the deletion, a restore recreates the cluster under another name', async () => {
    await kubectl('delete etcdcluster db');
    await waitForDeletion(kubectl, 'pods -l etcd_cluster=db');
    await restore('again', { name: 'copy', create: 'FromBackup' });
    await waitFor(kubectl, 'etcdrestore/again', inSeconds(240, field('.status.succeeded', true)));
    await copy.settled(3);
    expect(await allKeys(copy)).toEqual(before);
    expect(await copy.status()).toMatchObject({ currentVersion: '3.5.35' });
  });
});

story.asOnTheLab(
  'a deleted cluster with managed TLS is recreated from its backup alone, in the improbable API',
  async (context) => {
    const { kubectl, step } = context;
    const withManagedTls = (name: string) =>
      declaredIn(improbable)(kubectl, name, () => clientAccessIn(kubectl, `${name}-client-tls`));
    const [db, copy] = [withManagedTls('db'), withManagedTls('copy')];
    const restore = (name: string, clusterName: string): Promise<string> => {
      const source = { objectURL: 'file://backups/db.snapshot' };
      const spec = { source, clusterTemplate: { clusterName, fromBackup: true } };
      const resource = { apiVersion: improbable.apiVersion, kind: 'EtcdRestore', metadata: { name }, spec };
      return kubectl('apply -f -', { input: JSON.stringify(resource) });
    };
    await installFor(improbable, context);
    const before = await step('the cluster is saved to a PVC', async () => {
      await kubectl('apply -f -', { input: claimManifest('backups') });
      await db.apply({ size: 3, version: old, extra: { tls: { managed: {} } } });
      await db.settled(3);
      await writeKeys(db, 'good');
      await backUpImprobable(kubectl, 'db', 'file://backups/{{ .Name }}.snapshot');
      return allKeys(db);
    });
    await step('a restore is refused while the cluster exists', async () => {
      await restore('too-soon', 'db');
      expect(await failed(kubectl, 'too-soon')).toContain('there is an EtcdCluster "db" already');
    });
    await step('after the deletion, a restore recreates the cluster under another name', async () => {
      await kubectl(`delete ${db.resource}`);
      await waitForDeletion(kubectl, `pods -l ${db.label}`);
      await restore('again', 'copy');
      await waitFor(kubectl, `${restores}/again`, inSeconds(240, field('.status.phase', 'Completed')));
      await copy.settled(3);
      expect(await allKeys(copy)).toEqual(before);
      expect(await copy.status()).toMatchObject({ serverVersion: old });
      expect((await copy.podNames()).toSorted()).toEqual(['copy-0', 'copy-1', 'copy-2']);
    });
  },
);
