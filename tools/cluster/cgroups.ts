import { existsSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const root = '/sys/fs/cgroup';

/** The directories of a cgroup: one on a computer with cgroup v2, one per hierarchy with v1. */
const directoriesOf = (cgroup: string): readonly string[] =>
  ['.', ...readdirSync(root)].map((hierarchy) => join(root, hierarchy, cgroup)).filter((path) => existsSync(path));

/** Removes a cgroup. It retries, because a killed process may leave its cgroup a moment later. */
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
    // still busy, or removed meanwhile: the next try decides
  }
}
