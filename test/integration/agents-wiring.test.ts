import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { coreosBackups } from '../../src/apis/coreos-v1beta2/backup.ts';
import { storeAccess } from '../../src/controllers/shared/store-access.ts';
import { agentPaths } from '../../src/core/manifests/agent-pod.ts';
import { agent } from '../support/agent.ts';
import { type EtcdCluster, startEtcd } from '../support/etcd-cluster.ts';
import { mountSecret, type StoreServer, startAzure, startGcs, startS3, startVolume } from '../support/store-servers.ts';

/** A kind of store: how to start a test server, and the spec of an EtcdBackup that uses that server. */
interface StoreCase {
  readonly start: () => Promise<StoreServer>;
  readonly spec: (server: StoreServer) => object;
}

const at = ({ address }: StoreServer): object => ({ path: 'backups/some/key.db', endpoint: address.endpoint });

const stores: Readonly<Record<string, StoreCase>> = {
  S3: { start: startS3, spec: (server) => ({ s3: { ...at(server), awsSecret: 's', forcePathStyle: true } }) },
  GCS: { start: startGcs, spec: (server) => ({ gcs: { ...at(server), gcpSecret: 's' } }) },
  ABS: { start: startAzure, spec: (server) => ({ abs: { ...at(server), absSecret: 's' } }) },
  PVC: { start: startVolume, spec: () => ({ pvc: { claimName: 'backups', path: 'some/key.db' } }) },
};

/** The arguments of the backup's agent pod, with mount paths replaced by paths on this machine. */
function agentArgs(spec: object, server: StoreServer, use: 'to-read' | 'to-write'): readonly string[] {
  const metadata = { name: 'b', namespace: 'n', uid: 'u' };
  const read = coreosBackups.read({ metadata, spec: { etcdEndpoints: ['http://db:2379'], ...spec } });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const { args, mounts } = storeAccess(read.value.intent.store, use);
  expect(mounts).toHaveLength(1);
  const here: Readonly<Record<string, string>> = {
    [agentPaths.storeSecret]: mountSecret(server.directory, 's', server.secret),
    [agentPaths.volume]: server.volume ?? '',
  };
  return args.map((arg) => here[arg] ?? arg);
}

describe('the store fields of an EtcdBackup', () => {
  let cluster: EtcdCluster;
  beforeAll(async () => {
    cluster = await startEtcd({ version: '3.5.35' });
    await cluster.connect().put('a', 'b');
  });
  afterAll(() => cluster.stop());

  it.each(Object.entries(stores))('open the store in the agent: %s', async (storageType, { start, spec }) => {
    await using server = await start();
    const args = (use: 'to-read' | 'to-write') => agentArgs({ storageType, ...spec(server) }, server, use);
    const endpoints = ['--endpoints', cluster.member(0).endpoint.url];
    const saved = await agent(server.directory, 'save', [...args('to-write'), ...endpoints]);
    expect(saved).toMatchObject({ ok: true, key: 'some/key.db', revision: '2' });
    const proven = await agent(server.directory, 'prove', args('to-read'));
    expect(proven).toMatchObject({ ok: true, sha256: saved?.['sha256'], version: '3.5.35', warnings: [] });
  });
});
