import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

/** Parses the second line of the shell's `times`: user and system time of all reaped children. */
export function childrenSeconds(times: string): number {
  const [, children = ''] = times.trim().split('\n');
  return [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (total, [, minutes, seconds]) => total + Number(minutes) * 60 + Number(seconds),
    0,
  );
}

interface ProcessTimes {
  readonly parent: number;
  /** The CPU time of the process and its reaped children, in seconds. */
  readonly seconds: number;
}

const ticksPerSecond = 100;

/** Parses a line of `/proc/<pid>/stat`. The name in parentheses may contain any character. */
export function timesIn(stat: string): ProcessTimes {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((total, field) => total + Number(field), 0);
  return { parent: Number(fields[1]), seconds: ticks / ticksPerSecond };
}

/** The CPU time of process trees, including reaped children. */
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
    return undefined; // the process has just ended
  }
}

/** The CPU time of the sample work on the reference machine. */
const referenceSeconds = 0.28;

/**
 * How much slower this machine is than the reference machine. Budgets are in seconds of the reference; measured seconds
 * are divided by this factor.
 */
export function slowness(): number {
  const shares = Array.from({ length: 3 }, sampleSeconds);
  return Math.min(...shares) / referenceSeconds;
}

/** The CPU time of a fixed sample of typical test work: JSON and hashing. */
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
