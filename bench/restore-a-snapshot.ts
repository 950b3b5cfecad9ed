import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecret, resourceOf, startS3ForPods } from '../test/support/backups.ts';
import { type EtcdCluster, startEtcd } from '../test/support/etcd-cluster.ts';
import { bucket, openOn, type StoreServer, s3Keys } from '../test/support/store-servers.ts';
import { type Bed, runBenchmarks } from './support/bed.ts';
import { cleanUp, resource, settled } from './support/clusters.ts';
import type { Figure } from './support/figures.ts';
import { asList, freshName, HandMade } from './support/manifests.ts';
import { inTurn, MemberObserver, secondsOf } from './support/serving.ts';

const version = '3.6.16';
const mebibytes = Number(process.argv[5] ?? 1024);
const oneMember = { size: 1, version, durable: true } as const;
const key = 'large.db';
const definition = join(import.meta.dirname, '../examples/coreos/etcd-restore-operator-crd.yaml');

async function fill(cluster: EtcdCluster): Promise<void> {
  const etcd = cluster.connect();
  const value = new Uint8Array(1_000_000);
  for (let i = 0; i < mebibytes; i++) {
    crypto.getRandomValues(value.subarray((i % 15) * 65_536, (i % 15) * 65_536 + 65_536));
    await etcd.put(`key/${i}`, value, { timeoutMillis: 60_000 });
  }
}

/** Allows anonymous reads, so that `wget` needs no signature. */
async function allowAnonymousReads({ address: { endpoint = '' } }: StoreServer): Promise<void> {
  const { PutBucketPolicyCommand, S3Client } = await import('@aws-sdk/client-s3');
  const credentials = { accessKeyId: s3Keys.id, secretAccessKey: s3Keys.secret };
  const client = new S3Client({ endpoint, credentials, region: 'us-east-1', forcePathStyle: true });
  const statement = { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${bucket}/*` };
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
  await client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }));
  client.destroy();
}

/** Uploads an `etcdctl` snapshot of that size to the store. */
async function prepare(server: StoreServer): Promise<void> {
  await using cluster = await startEtcd({ version, flags: ['--quota-backend-bytes=8589934592'] });
  await fill(cluster);
  const file = join(cluster.directory, key);
  await cluster.etcdctl('snapshot', 'save', file);
  await allowAnonymousReads(server);
  using store = await openOn(server);
  await store.put(
    key,
    (async function* () {
      yield readFileSync(file);
    })(),
  );
}

interface PodManifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly initContainers?: readonly object[];
    readonly containers: readonly { readonly image: string; readonly volumeMounts: readonly object[] }[];
  };
}

/** The pod of an operator, with init containers written by hand: download the object, and restore it with etcdutl. */
function podRestoredByHand(pod: PodManifest, url: string, peerURL: string): object {
  const [etcd] = pod.spec.containers;
  const { name } = pod.metadata;
  const file = `${dataMount}/${key}`;
  const restore = [
    ...['/usr/local/bin/etcdutl', 'snapshot', 'restore', file, `--data-dir=${dataMount}/data`, `--name=${name}`],
    ...[`--initial-cluster=${name}=${peerURL}`, `--initial-advertise-peer-urls=${peerURL}`],
  ];
  const common = { volumeMounts: [{ name: 'etcd-data', mountPath: dataMount }] };
  const initContainers = [
    ...(pod.spec.initContainers ?? []),
    { ...common, name: 'get', image: 'busybox:1.28.0-glibc', command: ['wget', '-q', '-O', file, url] },
    { ...common, name: 'restore', image: etcd?.image, command: restore },
  ];
  return { ...pod, spec: { ...pod.spec, initContainers } };
}

const dataMount = '/var/etcd';

/** The restore by hand: one pod that downloads the object, restores it and serves. */
async function byHand(bed: Bed, server: StoreServer, observer: MemberObserver): Promise<number> {
  const made = new HandMade(bed, freshName(), oneMember);
  const [member] = made.members;
  const peerURL = made.peerURLOf(member as never);
  const url = `${server.address.endpoint}/${bucket}/${key}`;
  const documents = made
    .all()
    .map((each) =>
      (each as PodManifest).kind === 'Pod' ? podRestoredByHand(each as PodManifest, url, peerURL) : each,
    );
  const seconds = await secondsOf(async () => {
    await bed.kubectl('apply -f -', { input: asList(documents) });
    await servesRestoredData(made.name, observer);
  });
  await cleanUp(bed, [made.name], documents);
  return seconds;
}

/** The poll interval: short against the measured times, and long enough to cost little. */
const pollMillis = 250;

/** Waits until the pods behind the cluster's Service serve the restored data. */
async function servesRestoredData(cluster: string, observer: MemberObserver): Promise<void> {
  for (;;) {
    const [member] = await observer.connectionsTo(cluster).catch(() => []);
    const status = await member?.status({ timeoutMillis: 500 }).catch(() => undefined);
    if (status !== undefined && status.dbSize > BigInt(mebibytes) * 500_000n) return;
    await sleep(pollMillis);
  }
}

async function byOperator(bed: Bed, server: StoreServer, observer: MemberObserver): Promise<number> {
  const name = freshName();
  const documents = [resource(bed, name, oneMember)];
  await bed.kubectl('apply -f -', { input: asList(documents) });
  await settled(bed, name, 1);
  const s3 = { path: `${bucket}/${key}`, awsSecret: 'aws', endpoint: server.address.endpoint, forcePathStyle: true };
  const restore = resourceOf('EtcdRestore', name, { etcdCluster: { name }, backupStorageType: 'S3', s3 });
  const seconds = await secondsOf(async () => {
    await bed.kubectl('apply -f -', { input: restore });
    await servesRestoredData(name, observer);
  });
  await bed.kubectl(`wait etcdrestore/${name} --for=jsonpath={.status.succeeded}=true --timeout=300s`);
  await bed.kubectl(`delete etcdrestore ${name}`);
  await cleanUp(bed, [name], documents);
  return seconds;
}

/**
 * Measures the time until a snapshot of 1 GiB serves from a volume: an EtcdRestore, which also verifies the snapshot
 * and replaces the existing cluster, against a pod applied by hand that downloads the object, restores it with
 * `etcdutl` and serves.
 */
export async function restoreASnapshot(bed: Bed): Promise<readonly Figure[]> {
  await bed.kubectl(`apply --server-side -f ${definition}`);
  using observer = new MemberObserver(bed);
  await using server = await startS3ForPods();
  await createSecret(bed.kubectl, 'aws', server.secret);
  await prepare(server);
  const taken = await inTurn(bed.pairs, {
    ours: () => byOperator(bed, server, observer),
    byHand: () => byHand(bed, server, observer),
  });
  return [{ question: `a snapshot of ${mebibytes} MB serves`, limit: 1.5, ...taken }];
}

if (import.meta.main) await runBenchmarks([restoreASnapshot]);
