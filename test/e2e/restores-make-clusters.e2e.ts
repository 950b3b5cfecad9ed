import { expect } from 'vitest';
import { namesOf, shown } from '../support/api.ts';
import { improbable } from '../support/apis.ts';
import { applyBackup, backedUp, claimManifest, numberedSaved, resourceOf } from '../support/backups.ts';
import { declared, declaredIn } from '../support/cluster.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installFor, installOperator } from '../support/operator.ts';
import { everything, write } from '../support/restored.ts';
import { story } from '../support/story.ts';
import { entryIn } from '../support/tls-cluster.ts';
import { until } from '../support/until.ts';
import { condition, field, inSeconds, waitFor, waitForDeletion } from '../support/waits.ts';

const [old, version] = ['3.5.35', '3.6.16'];
const restores = 'etcdrestores.etcd.improbable.io';

interface Asked {
  readonly url: string;
  readonly cluster: string;
  readonly replicas: number;
  readonly replaceExisting?: true;
  /** What the cluster's spec has besides. */
  readonly extra?: object;
}

async function applyRestore(kubectl: Kubectl, name: string, asked: Asked): Promise<void> {
  const { url, cluster, replicas, extra, ...more } = asked;
  const clusterTemplate = {
    clusterName: cluster,
    spec: { ...improbable.specOf({ size: replicas, version }), ...extra },
  };
  const spec = { source: { objectURL: url }, clusterTemplate, ...more };
  const resource = { apiVersion: improbable.apiVersion, kind: 'EtcdRestore', metadata: { name }, spec };
  await kubectl('apply -f -', { input: JSON.stringify(resource) });
}

/** Waits until a restore has failed, and gives what it says. */
async function failed(kubectl: Kubectl, name: string): Promise<string> {
  await waitFor(kubectl, `${restores}/${name}`, inSeconds(120, field('.status.phase', 'Failed')));
  return shown(kubectl, `${restores}/${name}`, '.status.reason');
}

story.asOnTheLab('a restore makes a cluster of numbered members, or touches nothing', async (told) => {
  const { kubectl, step } = told;
  const db = declaredIn(improbable)(kubectl);
  const copy = declaredIn(improbable)(kubectl, 'copy', () => entryIn(kubectl, 'copy-client-tls'));
  await installFor(improbable, told);
  const before = await step('a cluster of an older etcd is saved on a volume', async () => {
    await kubectl('apply -f -', { input: claimManifest('backups') });
    await db.apply({ size: 1, version: old });
    await db.settled(1);
    await write(db, 'good');
    const status = await numberedSaved(kubectl, 'db', 'file://backups/{{ .Name }}.snapshot');
    const saved = { etcdVersion: old, revision: 21, verified: true, url: 'file://backups/db.snapshot' };
    expect(status).toMatchObject(saved);
    return everything(db);
  });
  await step('what is no snapshot, or is not there, makes nothing', async () => {
    const wanted = { cluster: 'copy', replicas: 1 };
    await applyRestore(kubectl, 'damaged', { ...wanted, url: 'file://backups/db.snapshot.manifest.json' });
    expect(await failed(kubectl, 'damaged')).toMatch(/"copy" was not made: .*is no whole snapshot/);
    await applyRestore(kubectl, 'missing', { ...wanted, url: 'file://backups/db' });
    expect(await failed(kubectl, 'missing')).toContain('what begins with "db" there: db.snapshot');
    expect(await kubectl.refused(`get ${copy.resource}`)).toContain('not found');
  });
  await step('a cluster that is there is not touched', async () => {
    const ids = await db.ids();
    await applyRestore(kubectl, 'taken', { url: 'file://backups/db.snapshot', cluster: 'db', replicas: 3 });
    expect(await failed(kubectl, 'taken')).toContain('there is an EtcdCluster "db" already');
    expect(await db.ids()).toEqual(ids);
  });
  await step(
    'a new one of a newer etcd has it all, at its full size and behind certificates, although the operator is killed',
    async () => {
      const extra = { tls: { managed: {} } };
      await applyRestore(kubectl, 'again', { url: 'file://backups/db.snapshot', cluster: 'copy', replicas: 3, extra });
      await until('its first member is being made', async () => {
        const stage = await shown(kubectl, `${restores}/again`, '.status.stage');
        return (stage !== '' && stage !== 'Proving') || undefined;
      });
      await kubectl('delete pods -l name=etcd-operator --grace-period=0 --force');
      await waitFor(kubectl, `${restores}/again`, inSeconds(240, field('.status.phase', 'Completed')));
      await copy.settled(3);
      expect(await everything(copy)).toEqual(before);
      expect(await copy.status()).toMatchObject({ serverVersion: version });
      expect((await copy.podNames()).toSorted()).toEqual(['copy-0', 'copy-1', 'copy-2']);
    },
  );
  await step(
    'it is a cluster like any other: its volumes say whose they are, and it outlives the restore',
    async () => {
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
      expect(await everything(copy)).toEqual(before);
    },
  );
  await step(
    'one that is there gets it again, if that is said: its services stay, its old volumes go last',
    async () => {
      await write(copy, 'newer');
      const service = await shown(kubectl, 'service/copy-client', '.metadata.uid');
      const wanted = {
        url: 'file://backups/db.snapshot',
        cluster: 'copy',
        replicas: 1,
        replaceExisting: true,
      } as const;
      await applyRestore(kubectl, 'back', wanted);
      await waitFor(kubectl, `${restores}/back`, inSeconds(240, field('.status.phase', 'Completed')));
      await copy.settled(3);
      expect(await everything(copy)).toEqual(before);
      expect((await copy.podNames()).toSorted()).toEqual(['copy-3', 'copy-4', 'copy-5']);
      expect(await shown(kubectl, 'service/copy-client', '.metadata.uid')).toBe(service);
      await waitFor(kubectl, copy.resource, inSeconds(60, field('.status.keptVolumes[1].member', 'copy-1')));
      await kubectl(`patch ${copy.resource} --type=merge -p '{"spec":{"keepRemovedVolumesSeconds":1}}'`);
      await kubectl('wait persistentvolumeclaim/copy-0 persistentvolumeclaim/copy-1 --for=delete --timeout=90s');
    },
  );
});

story.asOnTheLab(
  'a cluster that was deleted comes back from the store alone, behind certificates of our own',
  async (told) => {
    const { kubectl, step } = told;
    const entered = (name: string) => declared(kubectl, name, () => entryIn(kubectl, `${name}-client-tls`));
    const [db, copy] = [entered('db'), entered('copy')];
    const pvc = { claimName: 'backups', path: 'db' };
    const restore = (name: string, etcdCluster: object): Promise<string> =>
      kubectl('apply -f -', { input: resourceOf('EtcdRestore', name, { etcdCluster, backupStorageType: 'PVC', pvc }) });
    await installOperator(told);
    const before = await step('saved', async () => {
      await kubectl('apply -f -', { input: claimManifest('backups') });
      await db.apply({ size: 3, version: '3.5.35', extra: { TLS: { managed: {} } } });
      await db.settled(3);
      await write(db, 'good');
      await applyBackup(kubectl, 'saved', { etcdCluster: { name: 'db' }, storageType: 'PVC', pvc });
      await backedUp(kubectl, 'saved');
      return everything(db);
    });
    await step('while it is there, it is not replaced', async () => {
      await restore('too-soon', { name: 'db', create: 'FromBackup' });
      await waitFor(kubectl, 'etcdrestore/too-soon', inSeconds(120, condition('Succeeded', 'False')));
      const reason = await shown(kubectl, 'etcdrestore/too-soon', '.status.reason');
      expect(reason).toContain('there is an EtcdCluster "db" already');
    });
    await step('deleted, it comes back as it was, under another name', async () => {
      await kubectl('delete etcdcluster db');
      await waitForDeletion(kubectl, 'pods -l etcd_cluster=db');
      await restore('again', { name: 'copy', create: 'FromBackup' });
      await waitFor(kubectl, 'etcdrestore/again', inSeconds(240, field('.status.succeeded', true)));
      await copy.settled(3);
      expect(await everything(copy)).toEqual(before);
      expect(await copy.status()).toMatchObject({ currentVersion: '3.5.35' });
    });
  },
);

story.asOnTheLab(
  'a cluster of numbered members that was deleted comes back from the store alone, behind certificates of our own',
  async (told) => {
    const { kubectl, step } = told;
    const entered = (name: string) =>
      declaredIn(improbable)(kubectl, name, () => entryIn(kubectl, `${name}-client-tls`));
    const [db, copy] = [entered('db'), entered('copy')];
    const restore = (name: string, clusterName: string): Promise<string> => {
      const source = { objectURL: 'file://backups/db.snapshot' };
      const spec = { source, clusterTemplate: { clusterName, fromBackup: true } };
      const resource = { apiVersion: improbable.apiVersion, kind: 'EtcdRestore', metadata: { name }, spec };
      return kubectl('apply -f -', { input: JSON.stringify(resource) });
    };
    await installFor(improbable, told);
    const before = await step('saved', async () => {
      await kubectl('apply -f -', { input: claimManifest('backups') });
      await db.apply({ size: 3, version: old, extra: { tls: { managed: {} } } });
      await db.settled(3);
      await write(db, 'good');
      await numberedSaved(kubectl, 'db', 'file://backups/{{ .Name }}.snapshot');
      return everything(db);
    });
    await step('while it is there, it is not replaced', async () => {
      await restore('too-soon', 'db');
      expect(await failed(kubectl, 'too-soon')).toContain('there is an EtcdCluster "db" already');
    });
    await step('deleted, it comes back as it was, under another name', async () => {
      await kubectl(`delete ${db.resource}`);
      await waitForDeletion(kubectl, `pods -l ${db.label}`);
      await restore('again', 'copy');
      await waitFor(kubectl, `${restores}/again`, inSeconds(240, field('.status.phase', 'Completed')));
      await copy.settled(3);
      expect(await everything(copy)).toEqual(before);
      expect(await copy.status()).toMatchObject({ serverVersion: old });
      expect((await copy.podNames()).toSorted()).toEqual(['copy-0', 'copy-1', 'copy-2']);
    });
  },
);
