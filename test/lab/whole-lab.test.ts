import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runningIn } from '../../lab/cli/state.ts';
import { readHostPorts } from '../../lab/network/host-ports.ts';
import { program } from '../../tools/programs/build.ts';
import { kubectlIn } from '../support/kubectl.ts';
import { LabHome } from '../support/lab-home.ts';
import { until } from '../support/until.ts';

const examples = join(import.meta.dirname, '../../examples/coreos');
const home = LabHome.withBuilt(['3.1.10', '3.3.12', '3.7.3']);
const logFile = join(home.directory, 'log');
const output = (): string => readFileSync(logFile, 'utf8');
const kubectl = kubectlIn('default');
const settled = '--for=condition=Progressing=false --timeout=60s';
let lab: ChildProcess;

async function start(...args: readonly string[]): Promise<void> {
  lab = home.command(args, openSync(logFile, 'w'));
  await until('the lab is ready', async () => {
    if (lab.exitCode !== null) throw new Error(output());
    return runningIn(home.state)?.isReady;
  });
}

async function runCommand(name: string): Promise<void> {
  const [code] = (await once(home.command([name], 'inherit'), 'exit')) as [number];
  expect(code).toBe(0);
}

/** Runs a line in a shell in a pod of its own, as the book does, and returns its output. */
const inShell = (line: string): Promise<string> =>
  kubectl('run shell --rm -i --quiet --image quay.io/coreos/etcd --restart=Never -- /bin/sh', {
    input: `${line} 2>&1\nexit\n`,
  });

const etcdctl = (cluster: string, args: string): Promise<string> =>
  inShell(`ETCDCTL_API=3 etcdctl --endpoints http://${cluster}-client:2379 ${args}`);

/** The host address of the first cluster's client Service, from the hints. */
const clientAddress = (): string => /curl (http:\/\/127\.0\.0\.1:\d+)\/version/.exec(output())?.[1] ?? '';

/** A killed process is in /proc until the kernel has removed it. */
const untilGone = (): Promise<true> =>
  until('all processes and mounts are gone', async () => (home.leftovers().length === 0 ? true : undefined), {
    seconds: 20,
  });

/** True if connections to a host port are refused. */
async function isRefused(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const refused = once(socket, 'connect').then(
    () => false,
    ({ code }: { code?: string }) => code === 'ECONNREFUSED',
  );
  return await refused.finally(() => socket.destroy());
}

const podsOf = async (cluster: string): Promise<readonly string[]> =>
  (await kubectl(`get pods -l etcd_cluster=${cluster} -o name`)).trim().split('\n');

beforeAll(async () => {
  process.env['KUBECONFIG'] = join(home.state, 'kubeconfig');
  process.env['PATH'] = `${dirname(program('kubernetes', 'kubectl'))}:${process.env['PATH'] ?? ''}`;
  await home.giveToUser();
});
afterAll(async () => {
  if (runningIn(home.state) !== undefined) await runCommand('down');
  await rm(home.directory, { recursive: true, force: true });
});

describe('the lab', () => {
  it('starts with a healthy cluster of the newest available etcd', async () => {
    await start();
    expect(output()).toMatch(/^Created the operator and example-etcd-cluster, with etcd 3\.7\.3 from /m);
    expect(output()).toMatch(/healthy: 3 of 3 members ready, etcd 3\.7\.3\n/);
    expect(output()).toContain(`export KUBECONFIG=${home.state}/kubeconfig`);
    expect(await kubectl('get etcd')).toMatch(/^example-etcd-cluster +3 +3 +3\.7\.3 +Running +True/m);
    expect(await kubectl('describe etcd example-etcd-cluster')).toMatch(/New Member Added/);
  });

  it('serves kubectl exec and logs', async () => {
    const [pod = ''] = await podsOf('example-etcd-cluster');
    expect(await kubectl(`exec ${pod} -- etcdctl endpoint health`)).toMatch(/is healthy/);
    expect(await kubectl(`logs ${pod}`)).toMatch(/etcd/);
  });

  it('has a host port for each Service until the Service is deleted', async () => {
    const address = clientAddress();
    expect(await (await fetch(`${address}/version`)).json()).toMatchObject({ etcdserver: '3.7.3' });
    const file = join(home.directory, 'status');
    await once(home.command(['status'], openSync(file, 'w')), 'exit');
    const status = readFileSync(file, 'utf8');
    expect(status).toContain(`Service default/example-etcd-cluster-client:2379 is at ${address.slice(7)}.`);
    await kubectl('create service clusterip passing --tcp=2379');
    await kubectl('set selector service passing app=etcd');
    const port = await until(
      'the Service has a host port',
      async () => readHostPorts(home.state)['default/passing:2379'],
    );
    await until(
      'the host port leads to members',
      async () => (await fetch(`http://127.0.0.1:${port}/version`)).ok || undefined,
    );
    await kubectl('delete service passing');
    await until('the host port is closed', async () => (await isRefused(port)) || undefined);
  });

  it('scales the cluster and replaces a deleted member', async () => {
    await kubectl('scale etcd example-etcd-cluster --replicas=4');
    await kubectl('wait etcd example-etcd-cluster --for=jsonpath={.status.readyMembers}=4 --timeout=60s');
    await kubectl(`wait etcd example-etcd-cluster ${settled}`);
    const [victim = ''] = await podsOf('example-etcd-cluster');
    await kubectl(`delete ${victim} --now`);
    await until('another member has replaced the deleted one', async () => {
      const pods = await podsOf('example-etcd-cluster');
      return pods.length === 4 && !pods.includes(victim) ? true : undefined;
    });
    await kubectl('wait etcd example-etcd-cluster --for=jsonpath={.status.readyMembers}=4 --timeout=60s');
  });

  it('has an etcdctl with the commands of the book', async () => {
    expect(await inShell('etcdctl --version')).toMatch(/etcdctl version: 3\.3\.12/);
  });

  it('keeps all data when it is killed', async () => {
    await kubectl(`create -f ${examples}/etcd-cluster.yaml`);
    await kubectl('wait etcd etcd-cluster --for=condition=Available --timeout=60s');
    await kubectl('wait etcd etcd-cluster --for=jsonpath={.status.readyMembers}=3 --timeout=60s');
    // The Service has endpoints a moment after the members are ready.
    await until('a write succeeds', async () =>
      (await etcdctl('etcd-cluster', 'put kept well')).includes('OK') ? true : undefined,
    );
    const ended = once(lab, 'exit');
    lab.kill('SIGKILL');
    await ended;
    await untilGone();
    const before = clientAddress();
    await start();
    expect(clientAddress()).toBe(before);
    await until('the written value is there', async () =>
      (await etcdctl('etcd-cluster', 'get kept')).includes('well') ? true : undefined,
    );
  });

  it('leaves neither process nor mount behind', async () => {
    await runCommand('down');
    await untilGone();
  });
});

describe('an empty lab', () => {
  it('has neither operator nor cluster, and accepts the first commands of the book', async () => {
    await rm(join(home.state, 'apiserver'), { recursive: true, force: true });
    await start('--empty');
    expect(await kubectl('get crd')).toBe('');
    expect(await kubectl('get pods')).toBe('');
    for (const part of ['crd', 'sa', 'role', 'rolebinding', 'deployment'])
      await kubectl(`create -f ${examples}/etcd-operator-${part}.yaml`);
    await kubectl('wait deployment etcd-operator --for=condition=Available --timeout=60s');
    await kubectl(`create -f ${examples}/etcd-cluster-cr.yaml`);
    await kubectl('wait etcd example-etcd-cluster --for=condition=Available --timeout=60s');
    expect(await kubectl('get etcd')).toMatch(/^example-etcd-cluster +3 +\d +3\.1\.10/m);
  });
});
