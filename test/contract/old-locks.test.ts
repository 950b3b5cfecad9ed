import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { coreos as coreosDialect } from '../../src/dialects/coreos-v1beta2/dialect.ts';
import type { OldLockPlace } from '../../src/dialects/dialect.ts';
import { improbable as improbableDialect } from '../../src/dialects/improbable-v1alpha1/dialect.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { fromKubeconfig } from '../../src/kube/config.ts';
import { connectTo } from '../../src/kube/connection.ts';
import { HttpKubeClient } from '../../src/kube/http-client.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { namespaced } from '../../src/kube/resource.ts';
import { Failure } from '../../src/std/failure.ts';
import { type Api, coreos, improbable } from '../support/apis.ts';
import { kubeconfigPath } from '../support/kube-connection.ts';
import { type LogLine, startOperatorProcess } from '../support/own-process.ts';
import { until } from '../support/until.ts';
import { contract, done, type Json } from './support.ts';

/** For how long the lock is good; the original renews it much more often. */
const seconds = 6;
const annotation = 'control-plane.alpha.kubernetes.io/leader';

/** An original operator, or more than one, as far as ours can see it: it holds its locks, until it dies. */
class Original {
  readonly #renewing: Promise<void>;
  #lives = true;
  renewals = 0;
  renewedAt = 0;

  constructor(namespace: string, places: readonly OldLockPlace[]) {
    this.#renewing = this.#renew(namespace, places);
  }

  async dies(): Promise<void> {
    this.#lives = false;
    await this.#renewing;
  }

  /** Not by kubectl, which on a busy machine takes longer to start than the lock is good for. */
  async #renew(namespace: string, places: readonly OldLockPlace[]): Promise<void> {
    const connection = connectTo(await fromKubeconfig(kubeconfigPath()), { userAgent: 'the-original' });
    const client = new HttpKubeClient(connection, { fieldManager: 'the-original' });
    while (this.#lives) {
      this.renewedAt = performance.now();
      await Promise.all(places.map((place) => renewed(place, namespace, client)));
      this.renewals++;
      await sleep(500);
    }
    await connection.close();
  }
}

async function renewed({ kind, plural, name }: OldLockPlace, namespace: string, client: KubeClient): Promise<void> {
  const renewTime = new Date().toISOString();
  const lock = { holderIdentity: 'the-original', leaseDurationSeconds: seconds, renewTime };
  const metadata = { name, namespace, annotations: { [annotation]: JSON.stringify(lock) } };
  const resource = namespaced<KubeObject>({ group: '', version: 'v1', plural, kind });
  const patch = { type: 'merge', body: { metadata } } as const;
  await client.patch(resource, { namespace, name }, patch).catch(async (thrown: unknown) => {
    if (Failure.from(thrown).kind !== 'not-found') throw thrown;
    await client.create(resource, { apiVersion: 'v1', kind, metadata });
  });
}

const endpoints = (name: string): OldLockPlace => ({ plural: 'endpoints', kind: 'Endpoints', name });

const isMember = (name: string): boolean => name.startsWith('pods/db-');

/** Something to do for each controller, as far as it can be done without a store and without nodes. */
const toDo: Readonly<Record<Api['name'], readonly Json[]>> = {
  coreos: [
    {
      ...{ apiVersion: coreos.apiVersion, kind: 'EtcdBackup', metadata: { name: 'b' } },
      spec: {
        ...{ etcdEndpoints: ['http://db-client:2379'], storageType: 'PVC' },
        pvc: { claimName: 'backups', path: 'db' },
      },
    },
    {
      ...{ apiVersion: coreos.apiVersion, kind: 'EtcdRestore', metadata: { name: 'r' } },
      spec: {
        ...{ etcdCluster: { name: 'absent' }, backupStorageType: 'PVC' },
        pvc: { claimName: 'backups', path: 'db' },
      },
    },
  ],
  improbable: [
    {
      ...{ apiVersion: improbable.apiVersion, kind: 'EtcdBackup', metadata: { name: 'b' } },
      spec: {
        source: { clusterURL: 'http://db:2379' },
        destination: { objectURLTemplate: 'file://backups/db' },
      },
    },
    {
      ...{ apiVersion: improbable.apiVersion, kind: 'EtcdRestore', metadata: { name: 'r' } },
      spec: {
        source: { objectURL: 'file://backups/db' },
        clusterTemplate: { clusterName: 'again', spec: { replicas: 1, version: '3.6.16' } },
      },
    },
  ],
};

for (const { api, dialect, more } of [
  {
    ...{ api: coreos, dialect: coreosDialect },
    more: [endpoints('etcd-backup-operator'), endpoints('etcd-restore-operator')],
  },
  { api: improbable, dialect: improbableDialect, more: [] },
]) {
  const { oldLock: place } = dialect;
  if (place === undefined) throw new Error(`the original of ${api.name} had a lock`);
  const { create, say, namespace } = contract(`old-locks-${api.name}`);

  const namesIn = async (collection: string): Promise<readonly string[]> => {
    const { items } = (await done(say('GET', collection))) as { items: readonly KubeObject[] };
    return items.map(({ metadata }) => `${collection.slice(collection.lastIndexOf('/') + 1)}/${metadata.name}`);
  };
  const made = async (): Promise<readonly string[]> => {
    const core = ['pods', 'services', 'persistentvolumeclaims'].map(
      (plural) => `/api/v1/namespaces/${namespace}/${plural}`,
    );
    const all = [...core, `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`];
    return (await Promise.all(all.map(namesIn))).flat();
  };
  const statuses = (): Promise<readonly unknown[]> =>
    Promise.all(
      ['etcdclusters/db', 'etcdbackups/b', 'etcdrestores/r'].map(
        async (one) => (await done(say('GET', `/apis/${api.apiVersion}/namespaces/${namespace}/${one}`)))['status'],
      ),
    );
  const cluster = {
    ...{ apiVersion: api.apiVersion, kind: 'EtcdCluster', metadata: { name: 'db' } },
    spec: api.specOf({ size: 1, version: '3.6.16' }),
  };

  it.concurrent(`an operator of ${api.name} does nothing beside a live original, and all when its ${place.kind} is stale`, async () => {
    const heard = new Map<string, number>();
    const onLine = ({ msg, kind }: LogLine): void => {
      const said = [msg, kind].filter((word) => typeof word === 'string').join(': ');
      heard.set(said, heard.get(said) ?? performance.now());
    };
    const begins = ['leading', 'looking after them: EtcdBackup', 'looking after them: EtcdRestore'];
    const original = new Original(namespace, [place, ...more]);
    await until('the original holds its locks', async () => original.renewals > 0 || undefined);
    for (const object of [cluster, ...toDo[api.name]]) await done(create(object));
    const operator = startOperatorProcess({ namespace, onLine }, [`--dialects=${api.name}`]);
    try {
      const waiting = 'waiting for the lock of an original etcd-operator to run out';
      const since = await until('ours waits', async () => heard.get(waiting));
      const longer = seconds * 1.2 * 1000;
      await until('longer than the lock is good for', async () => performance.now() - since > longer || undefined);
      expect([...heard.keys()].filter((said) => begins.includes(said))).toEqual([]);
      expect(await made()).toEqual([]);
      expect(await statuses()).toEqual([undefined, undefined, undefined]);
      await original.dies();
      for (const said of begins) {
        const began = await until(`ours begins: ${said}`, async () => heard.get(said));
        expect(began - original.renewedAt, said).toBeGreaterThanOrEqual(seconds * 1000);
      }
      await until('it makes what is asked for', async () => (await made()).some(isMember) || undefined);
      await until('it tells of all', async () => !(await statuses()).includes(undefined) || undefined);
    } finally {
      await original.dies();
      await operator.kill();
    }
  });
}
