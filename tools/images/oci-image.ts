import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { run } from '../lib/run.ts';

/** The container settings of the OCI image configuration. */
export interface ImageConfig {
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly Env?: readonly string[];
  readonly User?: string;
  readonly WorkingDir?: string;
  readonly Labels?: Readonly<Record<string, string>>;
}

export interface Layer {
  readonly blob: Buffer;
  /** The digest of the uncompressed layer, for the image configuration. */
  readonly diffId: string;
}

/** tar options for reproducible archives: sorted, without owners, with fixed timestamps. */
const reproducibly = [
  ...['--sort=name', '--format=ustar', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'],
  ...['--mode=u=rwX,go=rX'],
];

/** Packs the files that `fill` puts into a directory as an image layer. `level` trades time for size. */
export async function layerOf(fill: (tree: string) => Promise<void>, level: number): Promise<Layer> {
  const place = await mkdtemp(join(tmpdir(), 'layer-'));
  try {
    const [tree, archive] = [join(place, 'tree'), join(place, 'tar')];
    await mkdir(tree);
    await fill(tree);
    await packReproducibly(tree, archive);
    const content = await readFile(archive);
    return { blob: await promisify(gzip)(content, { level }), diffId: digestOf(content) };
  } finally {
    await rm(place, { recursive: true });
  }
}

/** Copies a file into a tree, follows links, and creates directories. */
export async function copyInto(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await cp(from, to, { dereference: true });
}

/** Packs the content of a directory, as `./…`, into a tar file. */
export async function packReproducibly(tree: string, archive: string): Promise<void> {
  await run('tar', [...reproducibly, '-C', tree, '-cf', `${archive}.part`, '.']);
  await rename(`${archive}.part`, archive);
}

/** Writes an OCI image layout, which skopeo, podman and containerd read. Returns the digest of the image. */
export async function writeImage(directory: string, layers: readonly Layer[], config: ImageConfig): Promise<string> {
  await mkdir(join(directory, 'blobs', 'sha256'), { recursive: true });
  const put = async (mediaType: string, content: Buffer): Promise<Descriptor> => {
    const digest = digestOf(content);
    await writeFile(join(directory, 'blobs', digest.replace(':', '/')), content);
    return { mediaType, digest, size: content.length };
  };

  const layerDescriptors = [];
  for (const layer of layers) layerDescriptors.push(await put(`${oci}.layer.v1.tar+gzip`, layer.blob));
  const configDescriptor = await put(`${oci}.config.v1+json`, json(imageConfiguration(layers, config)));
  const mediaType = `${oci}.manifest.v1+json`;
  const manifest = { schemaVersion: 2, mediaType, config: configDescriptor, layers: layerDescriptors };
  const described = await put(mediaType, json(manifest));
  await writeFile(join(directory, 'index.json'), json({ schemaVersion: 2, manifests: [described] }));
  await writeFile(join(directory, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }));
  return described.digest;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

const oci = 'application/vnd.oci.image';

const imageConfiguration = (layers: readonly Layer[], config: ImageConfig): unknown => ({
  created: '1970-01-01T00:00:00Z',
  architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
  os: 'linux',
  config,
  rootfs: { type: 'layers', diff_ids: layers.map((layer) => layer.diffId) },
});

const digestOf = (content: Buffer): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;
