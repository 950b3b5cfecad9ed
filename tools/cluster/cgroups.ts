import { existsSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Layout } from './layout.ts';

const root = '/sys/fs/cgroup';

/** The cluster's cgroups: one on a machine with cgroup v2, one per hierarchy with v1. */
const cgroupsOf = (layout: Layout): readonly string[] =>
  ['.', ...readdirSync(root)].map((hierarchy) => join(root, hierarchy, layout.link)).filter((path) => existsSync(path));

/** A cgroup can only be removed when its last process is really gone, which may be a moment after it was killed. */
export async function removeCgroups(layout: Layout): Promise<void> {
  for (let tries = 0; cgroupsOf(layout).length > 0; tries++) {
    for (const path of cgroupsOf(layout)) removeTree(path);
    if (tries > 500) throw new Error(`cgroups are still in use: ${cgroupsOf(layout).join(' ')}`);
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
