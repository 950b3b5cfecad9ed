import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { etcdBackupCrd } from '../src/apis/coreos-v1beta2/backup.ts';
import { etcdClusterCrd } from '../src/apis/coreos-v1beta2/crd.ts';
import { etcdRestoreCrd } from '../src/apis/coreos-v1beta2/restore.ts';
import { fromKubeconfig } from '../src/kube/config.ts';
import { connectTo } from '../src/kube/connection.ts';
import { HttpKubeClient } from '../src/kube/http-client.ts';
import type { KubeObject } from '../src/kube/object.ts';
import { customResourceDefinitions, namespaced, namespaces, pods } from '../src/kube/resource.ts';
import { bundle, bundleOf } from '../tools/bundle.ts';

/**
 * Fills an API server with 200 objects of one tenant, each as large as etcd accepts, and starts the operator under the
 * memory limit of its Deployment. The operator must refuse all of them, and must create the pods of another tenant's
 * cluster.
 */
const hostile = 200;
const largest = 1.4 * 1024 * 1024;
const group = 'etcd.database.coreos.com';
const secondsUntilGivenUp = 300;

type Custom = KubeObject & { readonly spec?: unknown; readonly status?: { readonly reason?: string } };
const kinds = {
  EtcdCluster: namespaced<Custom>({ group, version: 'v1beta2', plural: 'etcdclusters', kind: 'EtcdCluster' }),
  EtcdBackup: namespaced<Custom>({ group, version: 'v1beta2', plural: 'etcdbackups', kind: 'EtcdBackup' }),
} as const;

const directory = await mkdtemp(join(tmpdir(), 'hostile-objects-'));
const kubeconfig = join(directory, 'kubeconfig');

async function startServer(): Promise<Worker> {
  const server = new Worker(
    `const { workerData, parentPort } = require('node:worker_threads');
    import(workerData.start).then(async ({ startApiServer }) => {
      const { kubeconfig } = await startApiServer({ directory: workerData.directory, listen: { host: '127.0.0.1', port: 0 }, streamsOf: () => undefined });
      parentPort.postMessage(kubeconfig);
    });`,
    {
      eval: true,
      workerData: { directory, start: join(import.meta.dirname, '../lab/apiserver/start.ts') },
      resourceLimits: { maxOldGenerationSizeMb: 4096 },
    },
  );
  const text = await new Promise<string>((resolve, reject) => {
    server.once('message', resolve);
    server.once('error', reject);
  });
  await writeFile(kubeconfig, text);
  return server;
}

const named = (name: string, namespace: string, more: object = {}) => ({
  name,
  namespace,
  annotations: { [`${group}/scope`]: 'clusterwide' },
  ...more,
});

/** The place of the bulk: a part of the spec without a schema, labels, the last-applied annotation, or a pod. */
function hostileObject(index: number): { readonly object: KubeObject; readonly plural: string } {
  const bulk = 'x'.repeat(largest);
  const name = `hostile-${index}`;
  const custom = (kind: keyof typeof kinds, spec: object, more: object = {}) => ({
    object: { apiVersion: `${group}/v1beta2`, kind, metadata: named(name, 'tenant', more), spec } as KubeObject,
    plural: kinds[kind].plural,
  });
  const labels = Object.fromEntries(Array.from({ length: 20_000 }, (_, each) => [`l${each}`, 'x'.repeat(50)]));
  if (index % 2 === 0 && index % 20 !== 2)
    return custom('EtcdCluster', { size: 1, pod: { affinity: { nodeAffinity: { bulk } } } });
  if (index % 20 === 1) return custom('EtcdCluster', { size: 1 }, { labels });
  if (index % 4 === 2)
    return custom(
      'EtcdBackup',
      { etcdEndpoints: ['http://x:2379'], storageType: 'S3', s3: { path: 'b/k', awsSecret: 's' } },
      { labels },
    );
  const env = Array.from({ length: 45 }, (_, each) => ({ name: `X${each}`, value: bulk.slice(0, 32_000) }));
  const spec = { containers: [{ name: 'etcd', image: 'etcd', env }] };
  const metadata = { name, namespace: 'tenant', labels: { app: 'etcd', etcd_cluster: name } };
  return { object: { apiVersion: 'v1', kind: 'Pod', metadata, spec } as KubeObject, plural: 'pods' };
}

async function fill(client: HttpKubeClient): Promise<number> {
  for (const definition of [etcdClusterCrd(), etcdBackupCrd(), etcdRestoreCrd()])
    await client.create(customResourceDefinitions, definition);
  for (const name of ['tenant', 'other', 'operator'])
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  let bytes = 0;
  for (let index = 0; index < hostile; index++) {
    const { object, plural } = hostileObject(index);
    const resource = plural === 'pods' ? pods : kinds[object.kind as keyof typeof kinds];
    bytes += JSON.stringify(object).length;
    await client.create(resource, object);
  }
  return bytes;
}

const kibibytes = (pid: number, field: 'VmRSS' | 'VmHWM'): number =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
const mebibytes = (pid: number, field: 'VmRSS' | 'VmHWM'): number => Math.round(kibibytes(pid, field) / 1024);

/** The memory limit of the Deployment. */
function limitOfDeployment(): number {
  const file = readFileSync(join(import.meta.dirname, '../deploy/coreos/operator-deployment.yaml'), 'utf8');
  return Number(/limits:\s+memory: (\d+)Mi/.exec(file)?.[1]);
}

interface Operator {
  readonly pid: number;
  readonly ended: () => boolean;
  readonly stop: () => Promise<void>;
}

/** Starts the bundle, as in the image. In a container, V8 uses half of the limit for its heap. */
async function startOperator(limit: number): Promise<Operator> {
  const app = join(directory, 'app');
  await bundle(app);
  const flags = ['--max-semi-space-size=4', `--max-old-space-size=${limit / 2}`];
  const words = ['--kubeconfig', kubeconfig, '--cluster-wide', '--create-crd=false', '--dialects=coreos'];
  const own = [
    '--namespace=operator',
    '--listen-addr=127.0.0.1:0',
    '--reach-pods=direct',
    '--log-level=warn',
    '--enable-leader-election=false',
  ];
  const child = spawn(process.execPath, [...flags, bundleOf('etcd-operator', app), ...words, ...own], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  return {
    pid: child.pid ?? 0,
    ended: hasEnded,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function until(what: string, operator: Operator, isSo: () => Promise<boolean>): Promise<number> {
  const began = performance.now();
  while (!(await isSo())) {
    if (operator.ended()) throw new Error(`the operator ended before ${what}`);
    if (performance.now() - began > secondsUntilGivenUp * 1000) throw new Error(`time-out: ${what}`);
    await sleep(500);
  }
  return Math.round((performance.now() - began) / 1000);
}

const server = await startServer();
const connection = connectTo(await fromKubeconfig(kubeconfig), { userAgent: 'bench' });
const client = new HttpKubeClient(connection, { fieldManager: 'bench' });
const limit = limitOfDeployment();
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const bytes = await fill(client);
print(`${hostile} objects, ${Math.round(bytes / 2 ** 20)} MiB in all`);
const operator = await startOperator(limit);
try {
  await sleep(500);
  print(`RSS at its start: ${mebibytes(operator.pid, 'VmRSS')} MiB`);
  const refused = await until('the hostile clusters are refused', operator, async () => {
    const { status } = await client.get(kinds.EtcdCluster, { namespace: 'tenant', name: `hostile-${hostile - 4}` });
    return status?.reason !== undefined;
  });
  await client.create(kinds.EtcdCluster, {
    apiVersion: `${group}/v1beta2`,
    kind: 'EtcdCluster',
    metadata: named('ordinary', 'other'),
    spec: { size: 3, version: '3.5.21' },
  });
  const served = await until('the ordinary cluster has pods', operator, async () => {
    const { items } = await client.list(pods, { namespace: 'other' });
    return items.length >= 3;
  });
  print(`refused after ${refused} s, pods of another tenant's cluster after ${served} s more`);
  await sleep(5_000);
  const most = mebibytes(operator.pid, 'VmHWM');
  print(`RSS afterwards: ${mebibytes(operator.pid, 'VmRSS')} MiB, at most ${most} MiB, limit ${limit} MiB`);
  if (most > limit) process.exitCode = 1;
} finally {
  if (!operator.ended()) print(`RSS at most: ${mebibytes(operator.pid, 'VmHWM')} MiB`);
  await operator.stop();
  await connection.close();
  await server.terminate();
  await rm(directory, { recursive: true });
}
