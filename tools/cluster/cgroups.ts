import { existsSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const root = '/sys/fs/cgroup';

/** The directories of a cgroup: one on a computer with cgroup v2, one per hierarchy with v1. */
const directoriesOf = (cgroup: string): readonly string[] =>
  ['.', ...readdirSync(root)].map((hierarchy) => join(root, hierarchy, cgroup)).filter((path) => existsSync(path));

/** A cgroup can only be removed when its last process is really gone, which may be a moment after it was killed. */
export async function removeCgroup(cgroup: string): Promise<void> {
  for (let tries = 0; directoriesOf(cgroup).length > 0; tries++) {
    for (const path of directoriesOf(cgroup)) removeTree(path);
    if (tries > 500) throw new Error(`still in use: ${directoriesOf(cgroup).join(' ')}`);
    await sleep(20);
  }
}

function removeTree(path: string): void {
  try {
    const inner = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const { name } of inner) removeTree(join(path, name));
    rmdirSync(path);
  } catch {
    // busy, or gone by itself: looked at again in a moment
  }
}
