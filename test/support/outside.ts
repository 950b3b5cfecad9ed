import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { layoutOf } from '../../tools/cluster/layout.ts';
import { runningSwitch } from '../../tools/cluster/machine.ts';
import { connectMachine, ipBatch } from '../../tools/cluster/network.ts';

/** An operator that runs as a process on a computer beside the cluster. */
export interface OutsideOperator extends AsyncDisposable {
  /** All that it has said so far. */
  readonly log: () => string;
  /** How many connections it has open. */
  readonly connections: () => Promise<number>;
  /** How it ended, if it has. */
  readonly ended: () => number | string | undefined;
}

type Process = ChildProcessByStdio<Writable, Readable, null>;

const program = join(import.meta.dirname, '../../src/main/etcd-operator.ts');
const address = 200;

/**
 * Starts the operator with a kubeconfig, on a computer that is plugged into the cluster's switch and knows no way to pods:
 * what it sends to their addresses goes to a router that is not there.
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
    ['--net', 'sh', '-c', 'read plugged && exec "$@"', 'sh', process.execPath, program, ...arguments_],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const said: string[] = [];
  operator.stdout.setEncoding('utf8').on('data', (text: string) => said.push(text));
  await once(operator, 'spawn');
  await plugIn(cluster, operator);
  operator.stdin.write('plugged\n');
  return {
    log: () => said.join(''),
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

/** Counts in the kernel's own table, where state 01 is an open connection. */
const established = (table: string): number =>
  table.split('\n').filter((line) => line.trim().split(/\s+/)[3] === '01').length;

async function plugIn(cluster: string, { pid = 0 }: Process): Promise<void> {
  const layout = layoutOf(cluster);
  const [own, nobodys] = [address, address + 1].map((last) => layout.subnet.replace('.0/24', `.${last}`));
  await connectMachine(runningSwitch(layout) ?? 0, { port: `o${pid}`, address: own ?? '', pid });
  await ipBatch(
    ['link set lo up', `address add ${own}/24 dev eth0`, 'link set eth0 up', `route add default via ${nobodys}`],
    pid,
  );
}
