import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { resultsDirectory } from '../../tools/lib/suites.ts';
import type { Kubectl } from './kubectl.ts';

/** What one would ask for first when a story failed. */
const questions: Readonly<Record<string, string>> = {
  'events.txt': 'events',
  'pods.txt': 'describe pods',
  'resources.yaml': 'get all,configmaps,persistentvolumeclaims,poddisruptionbudgets,endpointslices -o yaml',
  'nodes.txt': 'describe nodes',
  'all-pods.txt': 'get pods --all-namespaces -o wide',
};

/** Keeps everything about a failed story under `test-results/`, before its namespace is removed. */
export async function collectEvidence(name: string, kubectl: Kubectl, failure: unknown): Promise<void> {
  const directory = join(resultsDirectory, name);
  await mkdir(directory, { recursive: true });
  const keep = async (file: string, words: string): Promise<void> => {
    const said = await kubectl(words).catch((error: unknown) => String(error));
    await writeFile(join(directory, file), said);
  };
  await writeFile(join(directory, 'failure.txt'), inspect(failure));
  await Promise.all(Object.entries(questions).map(([file, words]) => keep(file, words)));
  for (const pod of await podNames(kubectl)) {
    await keep(`${pod}.log`, `logs ${pod} --all-containers --prefix --timestamps`);
    await keep(`${pod}.previous.log`, `logs ${pod} --all-containers --prefix --previous`);
  }
  process.stdout.write(`  what was found is in test-results/${name}/\n`);
}

async function podNames(kubectl: Kubectl): Promise<readonly string[]> {
  const names = await kubectl('get pods -o jsonpath={.items[*].metadata.name}').catch(() => '');
  return names.split(' ').filter((name) => name !== '');
}
