import { readdirSync, readFileSync } from 'node:fs';

/** When a process started, in the kernel's ticks: together with its id this names one process for good. */
export function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

/** All processes that were started with `name` set to a value that `wanted` accepts in their environment. */
export function processesWith(name: string, wanted: (value: string) => boolean): readonly number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => {
      const value = environmentOf(pid).find((entry) => entry.startsWith(`${name}=`));
      return value !== undefined && wanted(value.slice(name.length + 1));
    });
}

/** The environment a process was started with; nothing for one that is gone, a zombie, or somebody else's. */
export function environmentOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
