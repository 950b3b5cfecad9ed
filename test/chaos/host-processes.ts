import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { environmentOf } from '../../tools/lib/processes.ts';

/** The lab and our test cluster run on this machine, so their containers are processes that this one can signal. */
function find(isWanted: (pid: number, args: readonly string[]) => boolean): readonly number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => isWanted(pid, argumentsOf(pid)));
}

/** The command line of a process; empty if it has ended. */
function argumentsOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** The etcd process of a member. The namespace is in its advertised URLs. */
export const etcdOfMember = (namespace: string, member: string): readonly number[] =>
  find((_, [program = '', ...args]) => {
    const isEtcd = basename(program) === 'etcd' && args.includes(`--name=${member}`);
    return isEtcd && args.some((arg) => arg.includes(`.${namespace}.svc`));
  });

/** The data of an etcd process, seen from this machine. */
export function dataOf(etcd: number): string {
  const flag = argumentsOf(etcd).find((arg) => arg.startsWith('--data-dir='));
  if (flag === undefined) throw new Error(`process ${etcd} is no etcd with a data directory`);
  return join(`/proc/${etcd}/root`, flag.slice('--data-dir='.length), 'member');
}

/** The processes of all operator pods of a namespace. */
export const operatorsIn = (namespace: string): readonly number[] =>
  find((pid, args) => {
    const isOperator = args.some((arg) => arg.includes('etcd-operator')) && !args.includes('agent');
    return isOperator && environmentOf(pid).includes(`MY_POD_NAMESPACE=${namespace}`);
  });

/** Sends a signal; a process that has ended meanwhile is left out. Returns how many were reached. */
export const signalAll = (pids: readonly number[], signal: NodeJS.Signals): number =>
  pids.filter((pid) => isReached(pid, signal)).length;

function isReached(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw thrown;
  }
}
