import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runningIn } from '../src/cli/lab/state.ts';
import { fromKubeconfig } from '../src/kube/config.ts';
import { type Connection, connectTo } from '../src/kube/connection.ts';
import { HttpKubeClient } from '../src/kube/http-client.ts';
import type { Pod } from '../src/kube/object.ts';
import { forwardedSocket } from '../src/kube/port-forward.ts';
import { pods } from '../src/kube/resource.ts';
import { Ground } from '../src/lab/ground/ground.ts';
import { layout } from '../src/lab/network/addresses.ts';
import { kubectlIn } from '../test/support/kubectl.ts';
import { LabHome } from '../test/support/lab-home.ts';
import { installOperator } from '../test/support/operator.ts';
import { until } from '../test/support/until.ts';
import { kubectlPath } from '../tools/cluster/kubectl.ts';
import { runMain } from '../tools/lib/main.ts';
import { etcdProgram } from '../tools/programs/build.ts';
import { resource, threeMembers } from './support/clusters.ts';
import { detailsOf, type Figure, isWithinLimit, tableOf } from './support/figures.ts';
import { inTurn, secondsOf } from './support/serving.ts';

/**
 * How long until three members serve on the lab, from `kubectl apply`, against three etcds that a shell script starts in
 * namespaces made the same way; and what the lab costs while nothing happens.
 */
const pairs = Number(process.argv[2] ?? 5);
const programs = dirname(etcdProgram(threeMembers.version, 'etcd'));
const idleSeconds = 60;
const betweenLooksMillis = 25;

/** Etcd's own word: its `/health` is a read with a majority behind it. */
async function isHealthy(connect: () => Promise<Socket>): Promise<boolean> {
  const socket = await connect().catch(() => undefined);
  if (socket === undefined) return false;
  try {
    const asking = request({ path: '/health', createConnection: () => socket, timeout: 500 }).end();
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    return answer.statusCode === 200;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function untilAllServe(members: () => Promise<readonly (() => Promise<Socket>)[]>): Promise<void> {
  for (;;) {
    const healthy = await Promise.all((await members()).map(isHealthy));
    if (healthy.filter(Boolean).length === 3) return;
    await sleep(betweenLooksMillis);
  }
}

/** In a ground of its own, which is there before the clock runs, as the lab is. */
async function byHand(): Promise<number> {
  const ground = await Ground.open({ gateway: layout.gatewayWithPrefix, services: layout.services });
  const work = mkdtempSync(join(tmpdir(), 'by-hand-'));
  const script = join(import.meta.dirname, 'three-etcds-by-hand.sh');
  const [enter, ...words] = ground.inside(['/bin/sh', script, programs, work, layout.gateway]);
  const ways = [1, 2, 3].map((i) => () => ground.dial(`10.244.200.${i}`, 2379));
  try {
    return await secondsOf(async () => {
      spawn(enter, words, { stdio: ['pipe', 'ignore', 'inherit'] }).on('error', () => undefined);
      await untilAllServe(async () => ways);
    });
  } finally {
    await ground.close();
    rmSync(work, { recursive: true, force: true });
  }
}

async function onTheLab(kubeconfig: string): Promise<number> {
  const kubectl = kubectlIn('default');
  const access = await fromKubeconfig(kubeconfig);
  await using connection = disposable(connectTo(access, { userAgent: 'bench' }));
  const client = new HttpKubeClient(connection, { fieldManager: 'bench' });
  const wayTo =
    ({ metadata: { name } }: Pod) =>
    (): Promise<Socket> =>
      forwardedSocket(access, { namespace: 'default', name, port: 2379 });
  const members = async (): Promise<readonly (() => Promise<Socket>)[]> =>
    (await client.list(pods, { namespace: 'default', labelSelector: 'etcd_cluster=db' })).items.map(wayTo);
  const seconds = await secondsOf(async () => {
    await kubectl('apply -f -', { input: resource('db') });
    await untilAllServe(members);
  });
  await kubectl('delete etcdcluster db');
  await kubectl('wait pods -l etcd_cluster=db --for=delete --timeout=60s');
  return seconds;
}

const disposable = (connection: Connection): Connection & AsyncDisposable =>
  Object.assign(connection, { [Symbol.asyncDispose]: () => connection.close() });

/** The lab's own processes: what people started, and the first process of its ground. */
function processesOf(lab: ChildProcess): readonly number[] {
  const childrenOf = (pid: number): readonly number[] =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  const { pid = 0 } = lab;
  const unshare = childrenOf(pid).find((child) => nameOf(child) === 'unshare') ?? 0;
  return [pid, unshare, ...childrenOf(unshare)];
}

const nameOf = (pid: number): string => readFileSync(`/proc/${pid}/comm`, 'utf8').trim();

const ticksOf = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return Number(fields[11]) + Number(fields[12]);
};

const mebibytesOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

async function whileIdle(lab: ChildProcess): Promise<readonly Figure[]> {
  const pids = processesOf(lab);
  const before = sum(pids.map(ticksOf));
  await sleep(idleSeconds * 1000);
  const percent = (sum(pids.map(ticksOf)) - before) / idleSeconds; // a tick is a hundredth of a second
  const mebibytes = sum(pids.map(mebibytesOf));
  return [
    { question: 'the idle lab, of a core', amount: Number(percent.toFixed(1)), unit: '%', limit: 2 },
    { question: 'the idle lab, resident', amount: Math.round(mebibytes), unit: 'MiB', limit: 200 },
  ];
}

await runMain(async () => {
  const home = LabHome.withBuilt([threeMembers.version]);
  await home.handOver();
  const log = join(home.directory, 'log');
  const lab = home.command(['--empty'], openSync(log, 'w'));
  try {
    await until('the lab is up', async () => runningIn(home.state)?.isWelcoming);
    const kubeconfig = join(home.state, 'kubeconfig');
    const PATH = `${dirname(kubectlPath())}:${process.env['PATH']}`;
    Object.assign(process.env, { KUBECONFIG: kubeconfig, IMAGE: 'etcd-operator:latest', PATH });
    const kubectl = kubectlIn('default');
    await kubectl(`apply --server-side -f ${join(import.meta.dirname, '../examples/coreos/etcd-operator-crd.yaml')}`);
    await installOperator({ kubectl, namespace: 'default' });
    const taken = await inTurn(pairs, { ours: () => onTheLab(kubeconfig), byHand });
    const race: Figure = { question: 'three members serve on the lab', limit: 1.2, ...taken };
    await kubectl('apply -f -', { input: resource('db') });
    await kubectl('wait etcdcluster/db --for=condition=Progressing=False --timeout=60s');
    const figures = [race, ...(await whileIdle(lab))];
    for (const figure of figures) process.stdout.write(`${detailsOf(figure)}\n`);
    process.stdout.write(`\n${tableOf(figures)}\n`);
    if (!figures.every(isWithinLimit)) process.exitCode = 1;
  } finally {
    const ended = once(lab, 'exit');
    lab.kill('SIGTERM');
    await ended;
    rmSync(home.directory, { recursive: true, force: true });
  }
});
