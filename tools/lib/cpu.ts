import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

/** The second line of the shell's `times`: user and system time of all children that were waited for. */
export function childrenSeconds(times: string): number {
  const [, children = ''] = times.trim().split('\n');
  return [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (total, [, minutes, seconds]) => total + Number(minutes) * 60 + Number(seconds),
    0,
  );
}

interface ProcessTimes {
  readonly parent: number;
  /** Its own processor time and that of the children it has waited for, in seconds. */
  readonly seconds: number;
}

const ticksPerSecond = 100;

/** Reads one line of `/proc/<pid>/stat`. The name in brackets may hold anything. */
export function timesIn(stat: string): ProcessTimes {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((total, field) => total + Number(field), 0);
  return { parent: Number(fields[1]), seconds: ticks / ticksPerSecond };
}

/** Processor time of whole process trees, dead children included, as far as their parents have waited for them. */
export function treeSeconds(roots: readonly number[]): number {
  const all = new Map<number, ProcessTimes>();
  for (const entry of readdirSync('/proc')) {
    const times = /^\d+$/.test(entry) ? timesOf(Number(entry)) : undefined;
    if (times !== undefined) all.set(Number(entry), times);
  }
  return sumOfTrees(all, new Set(roots));
}

export function sumOfTrees(all: ReadonlyMap<number, ProcessTimes>, roots: ReadonlySet<number>): number {
  const isInside = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at !== 0; at = all.get(at)?.parent)
      if (roots.has(at)) return true;
    return false;
  };
  return [...all].reduce((total, [pid, { seconds }]) => total + (isInside(pid) ? seconds : 0), 0);
}

function timesOf(pid: number): ProcessTimes | undefined {
  try {
    return timesIn(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return undefined; // it has just ended
  }
}

/** What the machine on which the budgets were written needs for the measured work. */
const referenceSeconds = 0.28;

/**
 * How much slower than the reference this machine computes. The same work takes twice the processor time on some machines:
 * budgets are in seconds of the reference, measured seconds are divided by this factor.
 */
export function slowness(): number {
  const shares = Array.from({ length: 3 }, sampleSeconds);
  return Math.min(...shares) / referenceSeconds;
}

/** A fixed piece of work of the kinds that tests do: objects made, written, read and hashed. */
function sampleSeconds(): number {
  const before = process.cpuUsage();
  let text = '';
  for (let round = 0; round < 240; round++) {
    const objects = Array.from({ length: 2_000 }, (_, index) => ({
      name: `object-${index}-${round}`,
      labels: { index },
    }));
    text = JSON.stringify(JSON.parse(JSON.stringify(objects)));
    createHash('sha256').update(text).digest();
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000_000;
}
