import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { LegacyLockObject } from '../../src/apis/common/dialect.ts';
import { coreos as coreosDialect } from '../../src/apis/coreos-v1beta2/dialect.ts';
import { improbable as improbableDialect } from '../../src/apis/improbable-v1alpha1/dialect.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { fromKubeconfig } from '../../src/kube/config.ts';
import { connectTo } from '../../src/kube/connection.ts';
import { HttpKubeClient } from '../../src/kube/http-client.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { namespaced } from '../../src/kube/resource.ts';
import { Failure } from '../../src/std/failure.ts';
import { type Api, coreos, improbable } from '../support/apis.ts';
import { kubeconfigPath } from '../support/kube-connection.ts';
import { type LogLine, startOperatorProcess } from '../support/operator-process.ts';
import { until } from '../support/until.ts';
import { contract, done, type Json } from './support.ts';

/** The lock's lease duration. The original renews the lock much more often. */
const seconds = 6;
const annotation = 'control-plane.alpha.kubernetes.io/leader';

/** Simulates original operators: holds their locks and renews them until `stop` is called. */
class OriginalOperator {
  readonly #renewing: Promise<void>;
  #isRunning = true;
  renewals = 0;
  renewedAt = 0;

  constructor(namespace: string, places: readonly LegacyLockObject[]) {
    this.#renewing = this.#renew(namespace, places);
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    await this.#renewing;
  }

  /** Uses a client, not kubectl: kubectl can take longer to start than the lease duration on a busy machine. */
  async #renew(namespace: string, places: readonly LegacyLockObject[]): Promise<void> {
    const connection = connectTo(await fromKubeconfig(kubeconfigPath()), { userAgent: 'the-original' });
    const client = new HttpKubeClient(connection, { fieldManager: 'the-original' });
    while (this.#isRunning) {
      this.renewedAt = performance.now();
      await Promise.all(places.map((place) => renewLock(place, namespace, client)));
      this.renewals++;
      await sleep(500);
    }
    await connection.close();
  }
}

async function renewLock(
  { kind, plural, name }: LegacyLockObject,
  namespace: string,
  client: KubeClient,
): Promise<void> {
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

const endpoints = (name: string): LegacyLockObject => ({ plural: 'endpoints', kind: 'Endpoints', name });

const isMember = (name: string): boolean => name.startsWith('pods/db-');

/** Resources that make every controller write something, although there is no store and no node. */
const extraResources: Readonly<Record<Api['name'], readonly Json[]>> = {
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
  const { legacyLock: place } = dialect;
  if (place === undefined) throw new Error(`the dialect ${api.name} must name the lock of its original operator`);
  const { create, request, namespace } = contract(`old-locks-${api.name}`);

  const namesIn = async (collection: string): Promise<readonly string[]> => {
    const { items } = (await done(request('GET', collection))) as { items: readonly KubeObject[] };
    return items.map(({ metadata }) => `${collection.slice(collection.lastIndexOf('/') + 1)}/${metadata.name}`);
  };
  const createdObjects = async (): Promise<readonly string[]> => {
    const core = ['pods', 'services', 'persistentvolumeclaims'].map(
      (plural) => `/api/v1/namespaces/${namespace}/${plural}`,
    );
    const all = [...core, `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`];
    return (await Promise.all(all.map(namesIn))).flat();
  };
  const statuses = (): Promise<readonly unknown[]> =>
    Promise.all(
      ['etcdclusters/db', 'etcdbackups/b', 'etcdrestores/r'].map(
        async (one) => (await done(request('GET', `/apis/${api.apiVersion}/namespaces/${namespace}/${one}`)))['status'],
      ),
    );
  const cluster = {
    ...{ apiVersion: api.apiVersion, kind: 'EtcdCluster', metadata: { name: 'db' } },
    spec: api.specOf({ size: 1, version: '3.6.16' }),
  };

  it.concurrent(`an operator of the ${api.name} API does nothing while an original operator holds its ${place.kind} lock, and starts once the lock expires`, async () => {
    const firstLogged = new Map<string, number>();
    const onLine = ({ msg, kind }: LogLine): void => {
      const logLine = [msg, kind].filter((part) => typeof part === 'string').join(': ');
      firstLogged.set(logLine, firstLogged.get(logLine) ?? performance.now());
    };
    const startLines = ['leading', 'starting controller: EtcdBackup', 'starting controller: EtcdRestore'];
    const original = new OriginalOperator(namespace, [place, ...more]);
    await until('the original holds its locks', async () => original.renewals > 0 || undefined);
    for (const object of [cluster, ...extraResources[api.name]]) await done(create(object));
    const operator = startOperatorProcess({ namespace, onLine }, [`--dialects=${api.name}`]);
    try {
      const waiting = 'waiting for the lock of an original etcd-operator to expire';
      const since = await until('our operator waits for the lock', async () => firstLogged.get(waiting));
      const longer = seconds * 1.2 * 1000;
      await until('the wait exceeds the lease duration', async () => performance.now() - since > longer || undefined);
      expect([...firstLogged.keys()].filter((logLine) => startLines.includes(logLine))).toEqual([]);
      expect(await createdObjects()).toEqual([]);
      expect(await statuses()).toEqual([undefined, undefined, undefined]);
      await original.stop();
      for (const logLine of startLines) {
        const began = await until(`our operator logs: ${logLine}`, async () => firstLogged.get(logLine));
        expect(began - original.renewedAt, logLine).toBeGreaterThanOrEqual(seconds * 1000);
      }
      await until(
        'our operator creates the member pod',
        async () => (await createdObjects()).some(isMember) || undefined,
      );
      await until('every resource has a status', async () => !(await statuses()).includes(undefined) || undefined);
    } finally {
      await original.stop();
      await operator.kill();
    }
  });
}
