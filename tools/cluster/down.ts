import { rm, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { attempt } from '../lib/run.ts';
import { removeCgroup } from './cgroups.ts';
import type { Layout } from './layout.ts';
import { stopAllMachines } from './machine.ts';
import { trialPlace } from './preflight.ts';

/**
 * Removes every trace of a cluster, whatever state it is in. With its processes gone the kernel has already taken away
 * their namespaces, and with those all mounts, interfaces, routes and rules; cgroups and files are left to us.
 */
export async function remove(layout: Layout): Promise<void> {
  await stopAllMachines(layout);
  await attempt('ip', ['link', 'delete', layout.link]).catch(() => undefined); // only if the kernel is slow to do it
  await removeCgroup(layout.link);
  for (const place of [layout.state, trialPlace(layout)]) await rm(place, { recursive: true, force: true });
  await rmdir(dirname(layout.state)).catch(() => undefined); // another cluster's directory may be beside ours
}
