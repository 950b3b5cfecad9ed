import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { layoutOf } from '../../tools/cluster/layout.ts';
import { runningSwitch } from '../../tools/cluster/machine.ts';
import { connectMachine, ipBatch } from '../../tools/cluster/network.ts';

/** An operator process on a machine outside the Kubernetes cluster. */
export interface OutsideOperator extends AsyncDisposable {
  /** The log so far. */
  readonly log: () => string;
  /** The number of open connections. */
  readonly connections: () => Promise<number>;
  /** The exit code or signal; undefined while the process runs. */
  readonly ended: () => number | string | undefined;
}

type Process = ChildProcessByStdio<Writable, Readable, null>;

const program = join(import.meta.dirname, '../../src/operator/etcd-operator.ts');
const address = 200;

/**
 * Starts the operator with a kubeconfig, in a network namespace on the cluster's switch without a route to pods: its default
 * route leads to an unused address.
 */
export async function startOutside(
  cluster: string,
  namespace: string,
  flags: readonly string[] = [],
): Promise<OutsideOperator> {
  const layout = layoutOf(cluster);
  const arguments_ = ['--kubeconfig', layout.kubeconfig, '--namespace', namespace, '--create-crd=false', ...flags];
  const operator = spawn(
    'unshare',
    ['--net', 'sh', '-c', 'read connected && exec "$@"', 'sh', process.execPath, program, ...arguments_],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const output: string[] = [];
  operator.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text));
  await once(operator, 'spawn');
  await connectToSwitch(cluster, operator);
  operator.stdin.write('connected\n');
  return {
    log: () => output.join(''),
    connections: async () => established(readFileSync(`/proc/${operator.pid}/net/tcp`, 'utf8')),
    ended: () => operator.exitCode ?? operator.signalCode ?? undefined,
    [Symbol.asyncDispose]: async () => {
      if (operator.exitCode !== null || operator.signalCode !== null) return;
      const ended = once(operator, 'exit');
      operator.kill('SIGTERM');
      await ended;
    },
  };
}

/** Counts open connections (state 01) in /proc/net/tcp. */
const established = (table: string): number =>
  table.split('\n').filter((line) => line.trim().split(/\s+/)[3] === '01').length;

async function connectToSwitch(cluster: string, { pid = 0 }: Process): Promise<void> {
  const layout = layoutOf(cluster);
  const [own, unused] = [address, address + 1].map((last) => layout.subnet.replace('.0/24', `.${last}`));
  await connectMachine(runningSwitch(layout) ?? 0, { port: `o${pid}`, address: own ?? '', pid });
  await ipBatch(
    ['link set lo up', `address add ${own}/24 dev eth0`, 'link set eth0 up', `route add default via ${unused}`],
    pid,
  );
}
