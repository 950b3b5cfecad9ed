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

/** Builds the operator's image in a temporary directory for `use`. */
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

/**
 * Writes the operator's image to `dist/` as OCI layout and Docker archive, with licences and SBOM. Returns its digest.
 */
export const keepOperatorImage = (): Promise<string> =>
  withOperatorImage(async (layout, { digest, metafile }) => {
    await writeDocuments(join(dist, 'documents'), metafile);
    await packReproducibly(layout, join(dist, 'etcd-operator.oci.tar'));
    const docker = join(dist, 'etcd-operator.docker.tar');
    await rm(docker, { force: true });
    await skopeo(['copy', `oci:${layout}`, `docker-archive:${docker}:etcd-operator:${await packageVersion()}`]);
    return digest;
  });

/** The image name in the Deployment of the coreos walkthrough. */
const walkthroughImage = 'coreos/etcd-operator:v0.9.4';

/** Pushes the operator's image to a test cluster's registry, as `etcd-operator` and under the walkthrough's name. */
export const pushOperatorImage = (cluster: Layout): Promise<void> =>
  withOperatorImage(async (layout) => {
    const tags = [await packageVersion(), 'latest'];
    for (const name of [...tags.map((tag) => `library/etcd-operator:${tag}`), walkthroughImage]) {
      await push(layout, cluster.registry, name);
    }
  });
