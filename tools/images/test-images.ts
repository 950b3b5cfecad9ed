import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { debianRoot, unpacked } from '../debian/packages.ts';
import { run } from '../lib/run.ts';
import { etcdProgram } from '../programs/build.ts';
import { type EtcdVersion, etcdVersions } from '../programs/catalog.ts';
import { copyLibraries } from './libraries.ts';
import { copyInto, type Layer, layerOf, writeImage } from './oci-image.ts';

/** An image in an OCI layout directory, and its names without a registry: the cluster's registry serves all. */
export interface TestImage {
  readonly layout: string;
  readonly names: readonly string[];
}

export const pauseImage = 'pause:3.10';

/** No compression: images are read once over loopback, so time matters and size does not. */
const quickly = 1;

/** Builds the images that tests pull: etcd of every version, busybox, and the kubelet's pause. */
export async function makeTestImages(directory: string): Promise<readonly TestImage[]> {
  const base = await layerOf(busyboxTree, quickly);
  const images: TestImage[] = [
    await image(directory, {
      layers: [base],
      command: ['sh'],
      names: ['library/busybox:1.28.0-glibc', 'library/busybox:latest'],
    }),
    await image(directory, { layers: [base], command: ['sleep', '2147483647'], names: [pauseImage] }),
  ];
  for (const version of etcdVersions) {
    const layers = [base, await layerOf((tree) => etcdTree(tree, version), quickly)];
    images.push(await image(directory, { layers, command: ['/usr/local/bin/etcd'], names: etcdNames(version) }));
  }
  return images;
}

/** The coreos walkthrough uses `--image quay.io/coreos/etcd` without a tag, when the newest version was 3.3.12. */
const etcdNames = (version: EtcdVersion): readonly string[] => [
  `coreos/etcd:v${version}`,
  ...(version === '3.3.12' ? ['coreos/etcd:latest'] : []),
];

interface Recipe {
  readonly layers: readonly Layer[];
  readonly command: readonly string[];
  readonly names: readonly string[];
}

/** Like the upstream image: a `Cmd` and no `Entrypoint`, so that `kubectl run … -- /bin/sh` starts a shell. */
async function image(directory: string, { layers, command, names }: Recipe): Promise<TestImage> {
  const layout = join(directory, (names[0] ?? '').replaceAll(/[/:]/g, '-'));
  await writeImage(layout, layers, {
    Cmd: command,
    Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
  });
  return { layout, names };
}

async function busyboxTree(tree: string): Promise<void> {
  const busybox = join(debianRoot(), 'bin/busybox');
  await copyInto(busybox, join(tree, 'bin/busybox'));
  await copyLibraries(tree, ['libc.so.6', 'libresolv.so.2']); // for DNS lookups
  const [loader, ...args] = unpacked('bin/busybox');
  const applets = (await run(loader, [...args, '--list'])).trim().split('\n');
  for (const applet of applets) if (applet !== 'busybox') await symlink('busybox', join(tree, 'bin', applet));
  for (const directory of ['tmp', 'etc', 'usr/local/bin']) await mkdir(join(tree, directory), { recursive: true });
}

async function etcdTree(tree: string, version: EtcdVersion): Promise<void> {
  const programs = ['etcd', 'etcdctl', 'etcdutl'] as const;
  for (const name of programs) {
    if (name === 'etcdutl' && version < '3.5') continue; // before 3.5 its commands belong to etcdctl
    await copyInto(etcdProgram(version, name), join(tree, 'usr/local/bin', name));
  }
}
