import { layoutOf } from '../../tools/cluster/layout.ts';
import type { Kubectl } from './kubectl.ts';
import { type StoreServer, startS3 } from './store-servers.ts';

/** An S3 server on this machine, at an address that pods of our test cluster reach. */
export const startS3ForPods = (): Promise<StoreServer> =>
  startS3({ host: layoutOf(process.env['TEST_CLUSTER'] ?? '').hostAddress });

/** Puts what opens a store into a Secret of the story's namespace. */
export async function createSecret(
  kubectl: Kubectl,
  name: string,
  content: Readonly<Record<string, string>>,
): Promise<void> {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: content };
  await kubectl('apply -f -', { input: JSON.stringify(secret) });
}

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

/** Waits until a backup has gone well, and gives what it says of itself. */
export async function backedUp(kubectl: Kubectl, name: string): Promise<BackupStatusSeen> {
  await kubectl(`wait etcdbackup/${name} --for=jsonpath={.status.succeeded}=true --timeout=120s`);
  return (await kubectl.json<{ status: BackupStatusSeen }>(`get etcdbackup ${name}`)).status;
}

export const claimManifest = (name: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '256Mi' } } },
  });
