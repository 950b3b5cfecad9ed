import { layoutOf } from '../../tools/cluster/layout.ts';
import { run } from '../../tools/lib/run.ts';
import { etcdProgram } from '../../tools/programs/build.ts';
import { agent } from './agent.ts';
import { apply, read } from './api.ts';
import { improbable } from './apis.ts';
import type { Kubectl } from './kubectl.ts';
import { agentFlags, type StoreServer, startAzure, startGcs, startS3 } from './store-servers.ts';
import { field, inSeconds, waitFor } from './waits.ts';

/** The address of this machine for pods of our test cluster. */
const forPods = () => ({ host: layoutOf(process.env['TEST_CLUSTER'] ?? '').hostAddress });

export const startS3ForPods = (): Promise<StoreServer> => startS3(forPods());
export const startGcsForPods = (): Promise<StoreServer> => startGcs(forPods());
export const startAzureForPods = (): Promise<StoreServer> => startAzure(forPods());

/** Creates or updates a Secret in the namespace of the story. */
export async function createSecret(
  kubectl: Kubectl,
  name: string,
  content: Readonly<Record<string, string>>,
): Promise<void> {
  await apply(kubectl, `secret/${name}`, { data: encoded(content) });
}

/** Encodes texts in base64, for the `data` of a Secret. */
export const encoded = (texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));

export const resourceOf = (kind: 'EtcdBackup' | 'EtcdRestore', name: string, spec: object): string =>
  JSON.stringify({ apiVersion: 'etcd.database.coreos.com/v1beta2', kind, metadata: { name }, spec });

export const applyBackup = async (kubectl: Kubectl, name: string, spec: object): Promise<void> =>
  void (await kubectl('apply -f -', { input: resourceOf('EtcdBackup', name, spec) }));

export interface BackupStatusSeen {
  readonly succeeded?: boolean;
  readonly Reason?: string;
  readonly etcdRevision?: number;
  readonly etcdVersion?: string;
  readonly lastSuccessDate?: string;
  readonly lastBackup?: { readonly url?: string; readonly sizeBytes?: number };
}

/** Waits until a backup has succeeded; returns its status. */
export async function backedUp(kubectl: Kubectl, name: string): Promise<BackupStatusSeen> {
  await waitFor(kubectl, `etcdbackup/${name}`, inSeconds(120, field('.status.succeeded', true)));
  return (await read<{ status: BackupStatusSeen }>(kubectl, `etcdbackup/${name}`)).status;
}

/** Saves a cluster of the improbable API with an EtcdBackup of the same name; returns the status of the backup. */
export async function backUpImprobable(kubectl: Kubectl, name: string, objectURLTemplate: string): Promise<object> {
  const spec = { source: { clusterName: name }, destination: { objectURLTemplate } };
  const resource = { apiVersion: improbable.apiVersion, kind: 'EtcdBackup', metadata: { name }, spec };
  await kubectl('apply -f -', { input: JSON.stringify(resource) });
  const backup = `etcdbackups.etcd.improbable.io/${name}`;
  await waitFor(kubectl, backup, inSeconds(120, field('.status.phase', 'Completed')));
  return (await read<{ status: object }>(kubectl, backup)).status;
}

/** The output of `etcdutl snapshot status` for a stored snapshot. etcdutl refuses a damaged snapshot. */
export async function storedSnapshotStatus(server: StoreServer, key: string): Promise<Record<string, number>> {
  const file = `${server.directory}/fetched.db`;
  await agent(server.directory, 'fetch', [...agentFlags(server, key), '--to', file]);
  const args = ['snapshot', 'status', file, '--write-out=json'];
  return JSON.parse(await run(etcdProgram('3.5.35', 'etcdutl'), args)) as Record<string, number>;
}

export const claimManifest = (name: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, labels: { 'etcd-operator/backups': 'true' } },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '256Mi' } } },
  });
