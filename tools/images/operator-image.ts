import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Metafile } from 'esbuild';
import { bundleDirectory, bundleOf, otherNames, packageVersion, programs } from '../bundle.ts';
import { debianRoot } from '../debian/packages.ts';
import { cacheDirectory, keyOf, makeAtomically } from '../lib/cache.ts';
import { libraries } from './debian-parts.ts';
import { documentsDirectory, documentsFor } from './documents.ts';
import { copyLibraries } from './libraries.ts';
import { assertPinnedNode, nodeProgram } from './node-program.ts';
import { copyInto, type Layer, layerOf, writeImage } from './oci-image.ts';

/** The user ID of the container: a non-root ID without an account. */
const user = '65532';

/** Part of the cache key of the Node layer. Change it with the content of that layer. */
const nodeLayerRecipe = '1';

/** The gzip level: small, at an acceptable time. */
const best = 6;

/** Writes the operator's image as an OCI layout and returns its digest. The build is reproducible. */
export async function writeOperatorImage(layout: string, metafile: Metafile): Promise<string> {
  const layers = [await nodeLayer(), await layerOf((tree) => fillProgramTree(tree, metafile), best)];
  return writeImage(layout, layers, {
    User: `${user}:${user}`,
    Entrypoint: ['/usr/local/bin/etcd-operator'],
    Env: ['PATH=/usr/local/bin', 'NODE_ENV=production'],
    WorkingDir: '/',
    Labels: {
      'org.opencontainers.image.title': 'etcd-operator',
      'org.opencontainers.image.version': await packageVersion(),
      'org.opencontainers.image.licenses': 'Apache-2.0',
    },
  });
}

/** Writes all files of the image to a directory; the Dockerfile copies that directory. */
export async function fillImageTree(tree: string, metafile: Metafile): Promise<void> {
  await mkdir(tree, { recursive: true });
  await fillNodeTree(tree);
  await fillProgramTree(tree, metafile);
}

async function fillProgramTree(tree: string, metafile: Metafile): Promise<void> {
  await writeDocuments(join(tree, documentsDirectory), metafile);
  await mkdir(join(tree, 'usr/local/bin'), { recursive: true });
  for (const file of await readdir(bundleDirectory))
    await copyInto(join(bundleDirectory, file), join(tree, 'app', file));
  for (const program of programs)
    await symlink(`/app/${basename(bundleOf(program))}`, join(tree, 'usr/local/bin', program));
  for (const name of otherNames)
    await symlink(`/app/${basename(bundleOf(programs[0]))}`, join(tree, 'usr/local/bin', name));
}

/** Writes the licences and the SBOM. */
export async function writeDocuments(directory: string, metafile: Metafile): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const [name, content] of Object.entries(await documentsFor(metafile)))
    await writeFile(join(directory, name), content);
}

async function fillNodeTree(tree: string): Promise<void> {
  await assertPinnedNode();
  await copyInto(nodeProgram, join(tree, 'usr/local/bin/node'));
  await copyLibraries(tree, libraries);
  await mkdir(join(tree, 'etc'), { recursive: true });
  await writeFile(join(tree, 'etc/passwd'), `nonroot:x:${user}:${user}:nonroot:/:/none\n`);
  await writeFile(join(tree, 'etc/group'), `nonroot:x:${user}:\n`);
}

/** The Node layer is cached: packing it takes seconds, and it rarely changes. */
async function nodeLayer(): Promise<Layer> {
  await assertPinnedNode();
  const kept = join(
    cacheDirectory(),
    'images',
    `node-${keyOf(nodeLayerRecipe, debianRoot(), await readFile(nodeProgram))}`,
  );
  if (!existsSync(kept)) {
    await makeAtomically(kept, async (directory) => {
      const layer = await layerOf(fillNodeTree, best);
      await writeFile(join(directory, layer.diffId), layer.blob);
    });
  }
  const [diffId = ''] = await readdir(kept);
  return { diffId, blob: await readFile(join(kept, diffId)) };
}
