import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unpacked } from '../debian/packages.ts';
import { run } from '../lib/run.ts';

/** Pushes an OCI layout to a local registry, with its digest unchanged. */
export async function push(layout: string, registry: string, name: string): Promise<void> {
  await skopeo(['copy', '--dest-tls-verify=false', `oci:${layout}`, `docker://${registry}/${name}`]);
}

/** Runs Debian's skopeo, without the host's container settings. */
export async function skopeo(args: readonly string[]): Promise<void> {
  const place = await mkdtemp(join(tmpdir(), 'skopeo-'));
  try {
    const policy = join(place, 'policy.json');
    await writeFile(policy, JSON.stringify({ default: [{ type: 'insecureAcceptAnything' }] }));
    await writeFile(join(place, 'registries.conf'), '');
    const [loader, ...rest] = unpacked('usr/bin/skopeo');
    const options = ['--policy', policy, '--registries-conf', join(place, 'registries.conf'), '--tmpdir', place];
    await run(loader, [...rest, ...options, ...args], { env: { REGISTRY_AUTH_FILE: join(place, 'none.json') } });
  } finally {
    await rm(place, { recursive: true });
  }
}
