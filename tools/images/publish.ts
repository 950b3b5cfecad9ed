import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { bundle, packageVersion } from '../bundle.ts';
import type { Layout } from '../cluster/layout.ts';
import { unpackDebian } from '../debian/packages.ts';
import { withProgress } from '../lib/progress.ts';
import { packReproducibly } from './oci-image.ts';
import { writeDocuments, writeOperatorImage } from './operator-image.ts';
import { push, skopeo } from './push.ts';

const dist = join(import.meta.dirname, '../../dist');

interface Made {
  readonly digest: string;
  readonly metafile: Metafile;
}

/** Makes the operator's image for as long as `use` needs it. */
async function withOperatorImage<T>(use: (layout: string, made: Made) => Promise<T>): Promise<T> {
  await unpackDebian();
  const metafile = await bundle();
  const layout = await mkdtemp(join(tmpdir(), 'image-'));
  try {
    const digest = await withProgress('making the image', () => writeOperatorImage(layout, metafile));
    return await use(layout, { digest, metafile });
  } finally {
    await rm(layout, { recursive: true });
  }
}

/** Keeps the operator's image in `dist/`, in both forms that other tools load, with its licences and SBOM; gives back its digest. */
export const keepOperatorImage = (): Promise<string> =>
  withOperatorImage(async (layout, { digest, metafile }) => {
    await writeDocuments(join(dist, 'documents'), metafile);
    await packReproducibly(layout, join(dist, 'etcd-operator.oci.tar'));
    const docker = join(dist, 'etcd-operator.docker.tar');
    await rm(docker, { force: true });
    await skopeo(['copy', `oci:${layout}`, `docker-archive:${docker}:etcd-operator:${await packageVersion()}`]);
    return digest;
  });

/** In the book's Deployment. */
const bookName = 'coreos/etcd-operator:v0.9.4';

/** Pushes the operator's image to a test cluster's registry, from which its nodes pull it as `etcd-operator`, or as the book's. */
export const pushOperatorImage = (cluster: Layout): Promise<void> =>
  withOperatorImage(async (layout) => {
    const tags = [await packageVersion(), 'latest'];
    for (const name of [...tags.map((tag) => `library/etcd-operator:${tag}`), bookName]) {
      await push(layout, cluster.registry, name);
    }
  });
