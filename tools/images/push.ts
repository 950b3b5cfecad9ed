import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unpacked } from '../debian/packages.ts';
import { run } from '../lib/run.ts';

/** Pushes an OCI layout to a registry on this machine under a name, unchanged: the digest stays what it was. */
export async function push(layout: string, registry: string, name: string): Promise<void> {
  await skopeo(['copy', '--dest-tls-verify=false', `oci:${layout}`, `docker://${registry}/${name}`]);
}

/** Runs Debian's skopeo, without reading the settings of any container tool that this machine may have. */
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
