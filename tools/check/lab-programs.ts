import { findKubectl } from '../../lab/cli/kubectl.ts';
import { labPrograms, shortVersions } from '../../test/support/lab-programs.ts';
import { bundle, storiesBundleDirectory } from '../bundle.ts';
import { cacheDirectory } from '../lib/cache.ts';
import { runMain } from '../lib/main.ts';

/** Prepares the programs for the stories of `make test`, while other suites run. */
await runMain(async () => {
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  await findKubectl({ cache: cacheDirectory(), print });
  await labPrograms(shortVersions);
  await bundle(storiesBundleDirectory);
});
