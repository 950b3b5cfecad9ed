import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { findKubectl } from '../../lab/cli/kubectl.ts';
import type { NodeStreams, Terminal } from '../../lab/streams.ts';
import { cacheDirectory } from '../../tools/lib/cache.ts';
import { reachedFile } from '../../tools/lib/reach.ts';
import { run } from '../../tools/lib/run.ts';
import { resultsDirectory } from '../../tools/lib/suites.ts';
import { CalledFiles } from '../support/called-files.ts';
import { echoPort } from './echo-port.ts';
import { shippedDefinitions } from './shipped-definitions.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Without KUBECONFIG, the suite starts the lab's API server and runs against that. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  const { directory: kubectl } = await findKubectl({ cache: cacheDirectory(), print });
  process.env['PATH'] = `${kubectl}:${process.env['PATH']}`;
  const end = process.env['KUBECONFIG'] ? undefined : await startLabServer();
  await installDefinitions();
  return end;
}

/** Installs the CRDs once. Test files run in parallel against one server, and no file removes the CRDs. */
async function installDefinitions(): Promise<void> {
  const { files, names } = shippedDefinitions;
  await run('kubectl', ['apply', '--server-side', ...files.flatMap((file) => ['-f', file])]);
  const definitions = names.map((name) => `crd/${name}`);
  await run('kubectl', ['wait', '--for=condition=Established', '--timeout=120s', ...definitions]);
}

async function startLabServer(): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'lab-contract-'));
  const reached = new CalledFiles();
  await reached.begin();
  // Imported after `reached.begin()`, so that coverage includes the module's top level.
  const { startApiServer } = await import('../../lab/apiserver/start.ts');
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

const apiserver = join(import.meta.dirname, '../../lab/apiserver');

async function writeReached(files: readonly string[]): Promise<void> {
  await mkdir(resultsDirectory, { recursive: true });
  await writeFile(reachedFile, JSON.stringify(files.map((file) => relative(apiserver, file))));
}

/** A node without isolation: commands of its containers run as processes of the test. */
const thisMachine: NodeStreams = {
  logs: ({ container }) => Promise.resolve(Readable.from([`hello from ${container}\n`])),
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
