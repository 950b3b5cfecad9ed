import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runningIn } from '../lab/cli/state.ts';
import { layout } from '../lab/network/addresses.ts';
import { Sandbox } from '../lab/sandbox/sandbox.ts';
import { fromKubeconfig } from '../src/kube/config.ts';
import { type Connection, connectTo } from '../src/kube/connection.ts';
import { HttpKubeClient } from '../src/kube/http-client.ts';
import type { Pod } from '../src/kube/object.ts';
import { forwardedSocket } from '../src/kube/port-forward.ts';
import { pods } from '../src/kube/resource.ts';
import { coreos } from '../test/support/apis.ts';
import { kubectlIn } from '../test/support/kubectl.ts';
import { LabHome } from '../test/support/lab-home.ts';
import { installOperator } from '../test/support/operator.ts';
import { until } from '../test/support/until.ts';
import { kubectlPath } from '../tools/cluster/kubectl.ts';
import { runMain } from '../tools/lib/main.ts';
import { etcdProgram } from '../tools/programs/build.ts';
import { resource, threeMembers } from './support/clusters.ts';
import { detailsOf, type Figure, isWithinLimit, tableOf } from './support/figures.ts';
import { whileIdle } from './support/idle.ts';
import { inTurn, secondsOf } from './support/serving.ts';

/**
 * Measures the time from `kubectl apply` until three members serve on the lab, against three etcds that a shell script
 * starts in the same kind of namespaces. Also measures the CPU and memory of the idle lab.
 */
const pairs = Number(process.argv[2] ?? 5);
const programs = dirname(etcdProgram(threeMembers.version, 'etcd'));
const pollMillis = 25;
const home = LabHome.withBuilt([threeMembers.version]);
const kubeconfig = join(home.state, 'kubeconfig');

/** True if `/health` is healthy, which includes a linearizable read. */
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
    await sleep(pollMillis);
  }
}

/** Runs in its own sandbox, which is started before the measurement, as the lab is. */
async function byHand(): Promise<number> {
  const sandbox = await Sandbox.open({ gateway: layout.gatewayWithPrefix, services: layout.services });
  const work = mkdtempSync(join(tmpdir(), 'by-hand-'));
  const script = join(import.meta.dirname, 'three-etcds-by-hand.sh');
  const [enter, ...words] = sandbox.commandInside(['/bin/sh', script, programs, work, layout.gateway]);
  const ways = [1, 2, 3].map((i) => () => sandbox.dial(`10.244.200.${i}`, 2379));
  try {
    return await secondsOf(async () => {
      spawn(enter, words, { stdio: ['pipe', 'ignore', 'inherit'] }).on('error', () => undefined);
      await untilAllServe(async () => ways);
    });
  } finally {
    await sandbox.close();
    rmSync(work, { recursive: true, force: true });
  }
}

async function onTheLab(): Promise<number> {
  const kubectl = kubectlIn('default');
  const access = await fromKubeconfig(kubeconfig);
  await using connection = disposable(connectTo(access, { userAgent: 'bench' }));
  const client = new HttpKubeClient(connection, { fieldManager: 'bench' });
  const dialerTo =
    ({ metadata: { name } }: Pod) =>
    (): Promise<Socket> =>
      forwardedSocket(access, { namespace: 'default', name, port: 2379 });
  const members = async (): Promise<readonly (() => Promise<Socket>)[]> =>
    (await client.list(pods, { namespace: 'default', labelSelector: 'etcd_cluster=db' })).items.map(dialerTo);
  const seconds = await secondsOf(async () => {
    await kubectl('apply -f -', { input: resource({ api: coreos }, 'db') });
    await untilAllServe(members);
  });
  await kubectl('delete etcdcluster db');
  await kubectl('wait pods -l etcd_cluster=db --for=delete --timeout=60s');
  return seconds;
}

const disposable = (connection: Connection): Connection & AsyncDisposable =>
  Object.assign(connection, { [Symbol.asyncDispose]: () => connection.close() });

/** Starts a lab as `make lab` does, and stops it after use. */
async function withLab<T>(words: readonly string[], use: (lab: ChildProcess) => Promise<T>): Promise<T> {
  const lab = home.command(words, openSync(join(home.directory, 'log'), 'a'));
  try {
    await until('the lab is up', async () => runningIn(home.state)?.isReady);
    return await use(lab);
  } finally {
    const ended = once(lab, 'exit');
    lab.kill('SIGTERM');
    await ended;
  }
}

async function race(): Promise<Figure> {
  const kubectl = kubectlIn('default');
  await kubectl(`apply --server-side -f ${join(import.meta.dirname, '../examples/coreos/etcd-operator-crd.yaml')}`);
  await installOperator({ kubectl, namespace: 'default' });
  const taken = await inTurn(pairs, { ours: () => onTheLab(), byHand });
  return { question: 'three members serve on the lab', limit: 1.2, ...taken };
}

/** The first start of a new user: the lab with the operator and the first cluster. */
async function idleFigures(lab: ChildProcess): Promise<readonly Figure[]> {
  await kubectlIn('default')('wait etcdclusters --all --for=condition=Progressing=False --timeout=60s');
  return whileIdle(lab);
}

await runMain(async () => {
  await home.giveToUser();
  await home.compile();
  const PATH = `${dirname(kubectlPath())}:${process.env['PATH']}`;
  Object.assign(process.env, { KUBECONFIG: kubeconfig, IMAGE: 'etcd-operator:latest', PATH });
  try {
    const idle = await withLab([], idleFigures);
    rmSync(join(home.state, 'apiserver'), { recursive: true, force: true });
    const figures = [await withLab(['--empty'], race), ...idle];
    for (const figure of figures) process.stdout.write(`${detailsOf(figure)}\n`);
    process.stdout.write(`\n${tableOf(figures)}\n`);
    if (!figures.every(isWithinLimit)) process.exitCode = 1;
  } finally {
    rmSync(home.directory, { recursive: true, force: true });
  }
});
