import { readdirSync, readFileSync } from 'node:fs';

/** The start time of a process in kernel ticks. PID and start time identify a process uniquely. */
export function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

/** The processes with an environment variable `name` whose value `wanted` accepts. */
export function processesWith(name: string, wanted: (value: string) => boolean): readonly number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => {
      const value = environmentOf(pid).find((entry) => entry.startsWith(`${name}=`));
      return value !== undefined && wanted(value.slice(name.length + 1));
    });
}

/** The initial environment of a process; empty for a dead process, a zombie, or a process of another user. */
export function environmentOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
