import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { findKubectl } from '../../src/cli/lab/kubectl.ts';
import type { NodeStreams, Terminal } from '../../src/lab/streams.ts';
import { cacheDirectory } from '../../tools/lib/cache.ts';
import { reachedFile } from '../../tools/lib/reach.ts';
import { run } from '../../tools/lib/run.ts';
import { resultsDirectory } from '../../tools/lib/suites.ts';
import { ReachedFiles } from '../support/reached.ts';
import { echoPort } from './echo-port.ts';
import { shippedDefinitions } from './shipped-definitions.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Without KUBECONFIG, the suite starts the lab's API server and runs against that. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  const { directory: kubectl } = await findKubectl({ cache: cacheDirectory(), say });
  process.env['PATH'] = `${kubectl}:${process.env['PATH']}`;
  const end = process.env['KUBECONFIG'] ? undefined : await startLabServer();
  await installDefinitions();
  return end;
}

/** Files run side by side and share one server: what all of them need is installed once, and no file removes it. */
async function installDefinitions(): Promise<void> {
  const { files, names } = shippedDefinitions;
  await run('kubectl', ['apply', '--server-side', ...files.flatMap((file) => ['-f', file])]);
  const definitions = names.map((name) => `crd/${name}`);
  await run('kubectl', ['wait', '--for=condition=Established', '--timeout=120s', ...definitions]);
}

async function startLabServer(): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'lab-contract-'));
  const reached = new ReachedFiles();
  await reached.begin();
  // Loaded only now, so that all it does is seen.
  const { startApiServer } = await import('../../src/lab/apiserver/start.ts');
  const server = await startApiServer({
    directory: join(directory, 'state'),
    listen: { host: '127.0.0.1', port: 0 },
    streamsOf: (node) => (node === 'this-machine' ? thisMachine : undefined),
  });
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig);
  Object.assign(process.env, { KUBECONFIG: kubeconfig, KUBECACHEDIR: join(directory, 'cache'), CONTRACT_OF: 'lab' });
  return async () => {
    await server.close();
    await writeReached(await reached.below(apiserver));
    reached[Symbol.dispose]();
    await rm(directory, { recursive: true });
  };
}

const apiserver = join(import.meta.dirname, '../../src/lab/apiserver');

async function writeReached(files: readonly string[]): Promise<void> {
  await mkdir(resultsDirectory, { recursive: true });
  await writeFile(reachedFile, JSON.stringify(files.map((file) => relative(apiserver, file))));
}

/** A node without walls: what is run in a container of it is run as it is. */
const thisMachine: NodeStreams = {
  logs: ({ container }) => Promise.resolve(Readable.from([`${container} says hello\n`])),
  exec: (_, [command = '', ...args], terminal) => runHere(command, args, terminal),
  attach: (_, terminal) => runHere('cat', [], terminal),
  // As `nc -ll -p 7777 -e cat` does in a pod.
  forward: async (_, port) => {
    if (port !== echoPort) throw new Error('connection refused');
    return new PassThrough();
  },
};

function runHere(command: string, args: readonly string[], { stdin, stdout, stderr }: Terminal): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args);
    child.stdout.pipe(stdout);
    if (stderr !== undefined) child.stderr.pipe(stderr);
    if (stdin === undefined) child.stdin.end();
    else stdin.pipe(child.stdin);
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 255));
  });
}
