import { findKubectl } from '../../src/cli/lab/kubectl.ts';
import { labPrograms, shortVersions } from '../../test/support/lab-programs.ts';
import { bundle, storiesBundleDirectory } from '../bundle.ts';
import { cacheDirectory } from '../lib/cache.ts';
import { runMain } from '../lib/main.ts';

/** Brings along what the stories of `make test` need, while other suites run. */
await runMain(async () => {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  await findKubectl({ cache: cacheDirectory(), say });
  await labPrograms(shortVersions);
  await bundle(storiesBundleDirectory);
});
