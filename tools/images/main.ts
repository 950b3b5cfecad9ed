import { Command } from 'commander';
import { bundle, packageVersion } from '../bundle.ts';
import { layoutOf } from '../cluster/layout.ts';
import { isUp } from '../cluster/up.ts';
import { unpackDebian } from '../debian/packages.ts';
import { runMain } from '../lib/main.ts';
import { fillImageTree } from './operator-image.ts';
import { keepOperatorImage, pushOperatorImage } from './publish.ts';

interface Options {
  readonly cluster: string;
  readonly tree?: string;
}

async function image(cluster: string): Promise<void> {
  process.stdout.write(`etcd-operator:${await packageVersion()} ${await keepOperatorImage()}\n`);
  const layout = layoutOf(cluster);
  if (!(await isUp(layout))) return;
  await pushOperatorImage(layout);
  process.stdout.write(`pushed to the registry of cluster "${cluster}"\n`);
}

async function imageTree(directory: string): Promise<void> {
  await unpackDebian();
  await fillImageTree(directory, await bundle());
}

const program = new Command('image')
  .option('--cluster <name>', 'push to this test cluster if it is up', 'dev')
  .option('--tree <directory>', "only write the image's files there, for the Dockerfile")
  .action(({ cluster, tree }: Options) => (tree === undefined ? image(cluster) : imageTree(tree)));
await runMain(async () => {
  await program.parseAsync();
});
