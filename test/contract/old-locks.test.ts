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
import { benchFor } from '../integration/crd-support.ts';
import { type Api, coreos, improbable, manifestOf } from '../support/apis.ts';
import { kubeconfigPath } from '../support/kube-connection.ts';
import { type LogLine, startOperatorProcess } from '../support/own-process.ts';
import { until } from '../support/until.ts';

const kinds = ['etcdbackups', 'etcdbackupschedules', 'etcdclusters', 'etcdpeers', 'etcdrestores'];
const definitions: Readonly<Record<Api['name'], Readonly<Record<string, string>>>> = {
  coreos: {
    'examples/coreos/etcd-operator-crd.yaml': 'etcdclusters.etcd.database.coreos.com',
    'examples/coreos/etcd-backup-operator-crd.yaml': 'etcdbackups.etcd.database.coreos.com',
    'examples/coreos/etcd-restore-operator-crd.yaml': 'etcdrestores.etcd.database.coreos.com',
  },
  improbable: Object.fromEntries(
    kinds.map((kind) => [`examples/improbable/crd/${kind}.yaml`, `${kind}.etcd.improbable.io`]),
  ),
};

/** For how long the lock is good; the original renews it much more often. */
const seconds = 10;
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

const documents = (objects: readonly object[]): string => objects.map((each) => JSON.stringify(each)).join('\n---\n');

const endpoints = (name: string): OldLockPlace => ({ plural: 'endpoints', kind: 'Endpoints', name });

/** Something to do for each controller, as far as it can be done without a store and without nodes. */
const toDo: Readonly<Record<Api['name'], readonly object[]>> = {
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
  const { kubectl, namespace, withDefinition } = benchFor(`old-locks-${api.name}`, definitions[api.name]);
  withDefinition();

  it.concurrent(`an operator of ${api.name} does nothing beside a live original, and all when its ${place.kind} is stale`, async () => {
    const heard = new Map<string, number>();
    const onLine = ({ msg, kind }: LogLine): void => {
      const said = [msg, kind].filter((word) => typeof word === 'string').join(': ');
      heard.set(said, heard.get(said) ?? performance.now());
    };
    const begins = ['leading', 'looking after them: EtcdBackup', 'looking after them: EtcdRestore'];
    const made = (): Promise<string> =>
      kubectl('get pods,services,persistentvolumeclaims,poddisruptionbudgets -o name');
    const group = api.apiVersion.split('/')[0];
    const each = `etcdclusters.${group}/db etcdbackups.${group}/b etcdrestores.${group}/r`;
    const statuses = async (): Promise<readonly string[]> =>
      (await kubectl(`get ${each} -o 'jsonpath={range .items[*]}{.status}{"\\n"}{end}'`)).split('\n').slice(0, 3);
    const original = new Original(namespace, [place, ...more]);
    await until('the original holds its locks', async () => original.renewals > 0 || undefined);
    await kubectl('apply -f -', { input: manifestOf('db', { size: 1, version: '3.6.16' }, api) });
    await kubectl('apply -f -', { input: documents(toDo[api.name]) });
    const operator = startOperatorProcess({ namespace, onLine }, [`--dialects=${api.name}`]);
    try {
      const waiting = 'waiting for the lock of an original etcd-operator to run out';
      const since = await until('ours waits', async () => heard.get(waiting));
      const longer = seconds * 1.2 * 1000;
      await until('longer than the lock is good for', async () => performance.now() - since > longer || undefined);
      expect([...heard.keys()].filter((said) => begins.includes(said))).toEqual([]);
      expect(await made()).toBe('');
      expect(await statuses()).toEqual(['', '', '']);
      await original.dies();
      for (const said of begins) {
        const began = await until(`ours begins: ${said}`, async () => heard.get(said));
        expect(began - original.renewedAt, said).toBeGreaterThanOrEqual(seconds * 1000);
      }
      await until('it makes what is asked for', async () => (await made()).includes('pod/db-') || undefined);
      await until('it tells of all', async () => !(await statuses()).includes('') || undefined);
    } finally {
      await original.dies();
      await operator.kill();
    }
  });
}
