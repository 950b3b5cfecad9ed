import { rm, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { attempt } from '../lib/run.ts';
import { removeCgroup } from './cgroups.ts';
import type { Layout } from './layout.ts';
import { stopAllMachines } from './machine.ts';
import { trialDirectory } from './preflight.ts';

/**
 * Removes a cluster completely, whatever its state. Once its processes are dead, the kernel removes their namespaces
 * with all mounts, interfaces, routes and rules. This function removes cgroups and files.
 */
export async function remove(layout: Layout): Promise<void> {
  await stopAllMachines(layout);
  await attempt('ip', ['link', 'delete', layout.link]).catch(() => undefined); // in case the kernel has not removed it yet
  await removeCgroup(layout.link);
  for (const place of [layout.state, trialDirectory(layout)]) await rm(place, { recursive: true, force: true });
  await rmdir(dirname(layout.state)).catch(() => undefined); // fails if another cluster has a directory there
}
