import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { makeAuthority, makeTokenKeys } from '../../lab/pki.ts';
import { fromKubeconfig } from '../../src/kube/config.ts';
import { connectTo } from '../../src/kube/connection.ts';
import { HttpKubeClient } from '../../src/kube/http-client.ts';
import { etcdProgram, program } from '../../tools/programs/build.ts';
import { controlPlaneEtcd } from '../../tools/programs/catalog.ts';
import { until } from './until.ts';

/** A real kube-apiserver without nodes and controllers: the lab provides them. */
export interface LoneApiServer {
  readonly kubeconfig: string;
  readonly port: number;
  /** The process IDs of kube-apiserver and its etcd. */
  readonly pids: readonly number[];
  readonly client: HttpKubeClient;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/** Starts the server; retries with other ports if another process has taken one. `flags` are added to its flags. */
export async function loneApiServer(flags: readonly string[] = [], tries = 5): Promise<LoneApiServer> {
  const { up, log, ...server } = await tryOnce(flags);
  if (up) return server;
  await server[Symbol.asyncDispose]();
  if (tries === 1) throw new Error(`kube-apiserver ended at start: ${log}`);
  return loneApiServer(flags, tries - 1);
}

async function tryOnce(
  flags: readonly string[],
): Promise<LoneApiServer & { readonly up: boolean; readonly log: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'lone-api-server-'));
  const [etcdPort, peerPort, port] = await Promise.all([freePort(), freePort(), freePort()]);
  await makeFiles(directory, port);
  const etcd = start(directory, etcdProgram(controlPlaneEtcd, 'etcd'), [
    ...[`--data-dir=${directory}/data`, '--unsafe-no-fsync', `--listen-peer-urls=http://127.0.0.1:${peerPort}`],
    ...[`--listen-client-urls=http://127.0.0.1:${etcdPort}`, `--advertise-client-urls=http://127.0.0.1:${etcdPort}`],
  ]);
  const server = startServer(directory, { port, etcdPort, flags });
  const kubeconfig = join(directory, 'kubeconfig');
  const connection = connectTo(await fromKubeconfig(kubeconfig), { userAgent: 'lab-test' });
  const client = new HttpKubeClient(connection, { fieldManager: 'lab-test' });
  const hasEnded = (): boolean => [server, etcd].some(({ exitCode }) => exitCode !== null);
  const outcome = await until('the API server answers', async () => {
    if (hasEnded()) return 'ended';
    await client.read('/api/v1/namespaces/default');
    return 'up';
  });
  return {
    ...{
      kubeconfig,
      port,
      client,
      pids: [server.pid ?? 0, etcd.pid ?? 0],
      up: outcome === 'up',
      log: readFileSync(join(directory, 'log'), 'utf8').slice(-2000),
    },
    [Symbol.asyncDispose]: async () => {
      await connection.close();
      for (const child of [server, etcd]) await stop(child);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

interface ServerSettings {
  readonly port: number;
  readonly etcdPort: number;
  readonly flags: readonly string[];
}

function startServer(directory: string, { port, etcdPort, flags }: ServerSettings): ChildProcess {
  return start(directory, program('kubernetes', 'kube-apiserver'), [
    ...[`--etcd-servers=http://127.0.0.1:${etcdPort}`, `--secure-port=${port}`, '--bind-address=127.0.0.1'],
    ...['--service-cluster-ip-range=10.96.0.0/16', '--authorization-mode=RBAC', '--endpoint-reconciler-type=none'],
    ...[`--client-ca-file=${directory}/ca.crt`, `--tls-cert-file=${directory}/server.crt`],
    ...[`--tls-private-key-file=${directory}/server.key`, '--allow-privileged=true', '--advertise-address=10.0.0.1'],
    ...['--service-account-issuer=https://kubernetes.default.svc.cluster.local'],
    ...[
      `--service-account-key-file=${directory}/tokens.pub`,
      `--service-account-signing-key-file=${directory}/tokens.key`,
    ],
    ...flags,
  ]);
}

async function makeFiles(directory: string, port: number): Promise<void> {
  const authority = await makeAuthority('lone API server');
  const addresses = ['127.0.0.1', '10.96.0.1'];
  const serving = await authority.issue({ commonName: 'kube-apiserver', dns: ['kubernetes.default.svc'], addresses });
  const admin = await authority.issue({ commonName: 'admin', organization: 'system:masters' });
  const tokens = makeTokenKeys();
  const encoded = (text: string): string => Buffer.from(text).toString('base64');
  const cluster = { server: `https://127.0.0.1:${port}`, 'certificate-authority-data': encoded(authority.certificate) };
  const user = { 'client-certificate-data': encoded(admin.certificate), 'client-key-data': encoded(admin.key) };
  const files = {
    'ca.crt': authority.certificate,
    'server.crt': serving.certificate,
    'server.key': serving.key,
    'tokens.pub': tokens.publicKey,
    'tokens.key': tokens.privateKey,
    kubeconfig: stringify({
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'lone' },
      clusters: [{ name: 'lone', cluster }],
      users: [{ name: 'admin', user }],
      contexts: [{ name: 'lone', context: { cluster: 'lone', user: 'admin' } }],
    }),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
}

function start(directory: string, path: string, args: readonly string[]): ChildProcess {
  const log = openSync(join(directory, 'log'), 'a');
  return spawn(path, args, { stdio: ['ignore', log, log] });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}
