import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { bundle, packageVersion } from '../bundle.ts';
import { layoutOf } from '../cluster/layout.ts';
import { isUp } from '../cluster/up.ts';
import { unpackDebian } from '../debian/packages.ts';
import { runMain } from '../lib/main.ts';
import { withProgress } from '../lib/progress.ts';
import { packReproducibly } from './oci-image.ts';
import { fillImageTree, writeOperatorImage } from './operator-image.ts';
import { push, skopeo } from './push.ts';

const dist = join(import.meta.dirname, '../../dist');

/** Makes the operator's image, keeps it in `dist/` in both common forms, and pushes it to the test cluster that is up. */
async function image(cluster: string): Promise<void> {
  await unpackDebian();
  await bundle();
  const layout = await mkdtemp(join(tmpdir(), 'image-'));
  try {
    const digest = await withProgress('making the image', () => writeOperatorImage(layout));
    await keep(layout);
    process.stdout.write(`etcd-operator:${await packageVersion()} ${digest}\n`);
    await pushIfUp(layout, cluster);
  } finally {
    await rm(layout, { recursive: true });
  }
}

async function keep(layout: string): Promise<void> {
  await packReproducibly(layout, join(dist, 'etcd-operator.oci.tar'));
  const docker = join(dist, 'etcd-operator.docker.tar');
  await rm(docker, { force: true });
  await skopeo(['copy', `oci:${layout}`, `docker-archive:${docker}:etcd-operator:${await packageVersion()}`]);
}

async function pushIfUp(layout: string, cluster: string): Promise<void> {
  const { registry, ...rest } = layoutOf(cluster);
  if (!(await isUp({ registry, ...rest }))) return;
  for (const tag of [await packageVersion(), 'latest']) await push(layout, registry, `library/etcd-operator:${tag}`);
  process.stdout.write(`pushed to the registry of cluster "${cluster}"\n`);
}

const program = new Command('image').option('--cluster <name>', 'the test cluster to push to', 'dev');
program.option('--tree <directory>', "only write the image's files there, for the Dockerfile");
program.action(async ({ cluster, tree }: { cluster: string; tree?: string }) => {
  if (tree === undefined) return image(cluster);
  await unpackDebian();
  await bundle();
  return fillImageTree(tree);
});
await runMain(async () => {
  await program.parseAsync();
});
