import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { Failure } from '../../src/std/failure.ts';
import { debianSuite, unpackDebian } from '../kubelet/image/debian.ts';
import { fetchStream } from '../kubelet/image/etcd-download.ts';
import { findProgram } from '../sandbox/host-programs.ts';

const run = promisify(execFile);

export interface ProviderOptions {
  readonly cache: string;
  readonly print: (line: string) => void;
}

/** Provides a kubectl; returns its directory, or `undefined` if it cannot. */
export type KubectlProvider = (options: ProviderOptions) => Promise<string | undefined>;

/** Unpacks Debian's package without installing it. */
export const fromDebian: KubectlProvider = async ({ cache, print }) => {
  const directory = join(cache, 'lab/debian/kubectl');
  if (!existsSync(directory)) print('kubectl: fetching Debian package kubectl');
  return join(await unpackDebian(['kubectl'], { directory, suite: debianSuite }), 'usr/bin');
};

/** The module files for the build; they name the version. */
const modules = join(import.meta.dirname, '../../tools/programs/kubernetes');

function versionIn(directory: string): string {
  const version = /^\s*(?:require )?k8s\.io\/kubernetes v(\d+\.\d+\.\d+)\b/m.exec(
    readFileSync(join(directory, 'go.mod'), 'utf8'),
  )?.[1];
  if (version === undefined) throw new Failure('bug', `${directory}/go.mod has no version of k8s.io/kubernetes`);
  return version;
}

/** Builds kubectl if Go is installed. */
export const buildKubectl: KubectlProvider = async (options) => {
  if (findProgram('go') === undefined) return undefined;
  const version = versionIn(modules);
  options.print(`kubectl ${version}: building with Go (some minutes)`);
  return await addToCache(version, options, async (directory) => {
    const flags = `-s -w -X k8s.io/component-base/version.gitVersion=v${version}`;
    const args = ['build', '-mod=readonly', '-trimpath', '-ldflags', flags, '-o', join(directory, 'kubectl')];
    const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOWORK: 'off', GOTOOLCHAIN: 'auto' };
    await run('go', [...args, 'k8s.io/kubernetes/cmd/kubectl'], { cwd: modules, env });
  });
};

const projectReleases = 'https://dl.k8s.io/release';
const system = `linux/${process.arch === 'arm64' ? 'arm64' : 'amd64'}`;

/** Downloads kubectl from the Kubernetes project's releases and verifies its checksum. */
export const downloadKubectl =
  (releases: string): KubectlProvider =>
  async (options) => {
    const version = versionIn(modules);
    const address = `${releases}/v${version}/bin/${system}/kubectl`;
    options.print(`kubectl ${version}: downloading ${address}`);
    return await addToCache(version, options, async (directory) => {
      const sum = (await text(await fetchStream(`${address}.sha256`))).trim().split(/\s/)[0];
      const program = await buffer(await fetchStream(address));
      if (createHash('sha256').update(program).digest('hex') !== sum)
        throw new Failure('rejected', `${address} does not match its checksum.`);
      await writeFile(join(directory, 'kubectl'), program);
      await chmod(join(directory, 'kubectl'), 0o755);
    });
  };

/** All providers, in the order in which they are tried. */
export const kubectlProviders: readonly KubectlProvider[] = [
  fromDebian,
  buildKubectl,
  downloadKubectl(projectReleases),
];

/** Adds a program to the cache once it is complete. */
async function addToCache(
  version: string,
  { cache }: ProviderOptions,
  make: (directory: string) => Promise<void>,
): Promise<string> {
  const directory = join(cache, 'programs', `kubectl-${version}`);
  const unfinished = `${directory}.${process.pid}`;
  try {
    await mkdir(unfinished, { recursive: true });
    await make(unfinished);
    await rm(directory, { recursive: true, force: true });
    await rename(unfinished, directory);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return directory;
}
