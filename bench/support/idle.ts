import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from './figures.ts';

const idleSeconds = 60;

/** The lab's own processes: the started program, and the first process of its sandbox. */
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

const mebibytesOf = (pid: number, what: 'RssAnon' | 'RssFile'): number =>
  Number(new RegExp(`${what}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** The resident memory. File-backed pages are counted once, because all processes run the same program. */
const residentOf = (pids: readonly number[]): number =>
  sum(pids.map((pid) => mebibytesOf(pid, 'RssAnon'))) + Math.max(...pids.map((pid) => mebibytesOf(pid, 'RssFile')));

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** The CPU and memory of the idle lab. */
export async function whileIdle(lab: ChildProcess): Promise<readonly Figure[]> {
  const pids = processesOf(lab);
  const before = sum(pids.map(ticksOf));
  await sleep(idleSeconds * 1000);
  const percent = (sum(pids.map(ticksOf)) - before) / idleSeconds; // a tick is a hundredth of a second
  const mebibytes = residentOf(pids);
  return [
    { question: 'CPU of the idle lab, of one core', amount: Number(percent.toFixed(1)), unit: '%', limit: 2 },
    { question: 'resident memory of the idle lab', amount: Math.round(mebibytes), unit: 'MiB', limit: 200 },
  ];
}
