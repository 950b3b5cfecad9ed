import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { resultsDirectory } from '../../tools/lib/suites.ts';
import type { Kubectl } from './kubectl.ts';

/** The kubectl commands that collect evidence of a failed story. */
const commands: Readonly<Record<string, string>> = {
  'events.txt': 'events',
  'pods.txt': 'describe pods',
  'resources.yaml': 'get all,configmaps,persistentvolumeclaims,poddisruptionbudgets,endpointslices -o yaml',
  'nodes.txt': 'describe nodes',
  'all-pods.txt': 'get pods --all-namespaces -o wide',
};

/** Saves evidence of a failed story in `test-results/`, before its namespace is deleted. */
export async function collectEvidence(name: string, kubectl: Kubectl, failure: unknown): Promise<void> {
  const directory = join(resultsDirectory, name);
  await mkdir(directory, { recursive: true });
  const keep = async (file: string, args: string): Promise<void> => {
    const output = await kubectl(args).catch((error: unknown) => String(error));
    await writeFile(join(directory, file), output);
  };
  await writeFile(join(directory, 'failure.txt'), inspect(failure));
  await Promise.all(Object.entries(commands).map(([file, args]) => keep(file, args)));
  for (const pod of await podNames(kubectl)) {
    await keep(`${pod}.log`, `logs ${pod} --all-containers --prefix --timestamps`);
    await keep(`${pod}.previous.log`, `logs ${pod} --all-containers --prefix --previous`);
  }
  process.stdout.write(`  evidence of the failure: test-results/${name}/\n`);
}

async function podNames(kubectl: Kubectl): Promise<readonly string[]> {
  const names = await kubectl('get pods -o jsonpath={.items[*].metadata.name}').catch(() => '');
  return names.split(' ').filter((name) => name !== '');
}
