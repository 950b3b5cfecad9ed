import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { searched } from '../../lab/ground/tools.ts';
import { debianSuite, unpackDebian } from '../../lab/node/image/debian.ts';
import { fetched } from '../../lab/node/image/etcd-download.ts';
import { Failure } from '../../std/failure.ts';

const run = promisify(execFile);

export interface WayOptions {
  readonly cache: string;
  readonly say: (line: string) => void;
}

/** A way to have a kubectl that is not at hand: the directory it is in then, or `undefined` where there is no such way. */
export type KubectlWay = (options: WayOptions) => Promise<string | undefined>;

/** Takes Debian's package without installing it. */
export const fromDebian: KubectlWay = async ({ cache, say }) => {
  const directory = join(cache, 'lab/debian/kubectl');
  if (!existsSync(directory)) say("kubectl: fetching Debian's package");
  return join(await unpackDebian(['kubectl'], { directory, suite: debianSuite }), 'usr/bin');
};

/** The module files that it is built from; they say which version it is. */
const modules = join(import.meta.dirname, '../../../tools/programs/kubernetes');

function versionIn(directory: string): string {
  const version = /^\s*(?:require )?k8s\.io\/kubernetes v(\d+\.\d+\.\d+)\b/m.exec(
    readFileSync(join(directory, 'go.mod'), 'utf8'),
  )?.[1];
  if (version === undefined) throw new Failure('bug', `${directory}/go.mod does not say which Kubernetes it is`);
  return version;
}

/** Builds it where there is Go. */
export const built: KubectlWay = async (options) => {
  if (searched('go') === undefined) return undefined;
  const version = versionIn(modules);
  options.say(`kubectl ${version}: building it with Go, which takes some minutes`);
  return await kept(version, options, async (directory) => {
    const flags = `-s -w -X k8s.io/component-base/version.gitVersion=v${version}`;
    const args = ['build', '-mod=readonly', '-trimpath', '-ldflags', flags, '-o', join(directory, 'kubectl')];
    const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOWORK: 'off', GOTOOLCHAIN: 'auto' };
    await run('go', [...args, 'k8s.io/kubernetes/cmd/kubectl'], { cwd: modules, env });
  });
};

const projectReleases = 'https://dl.k8s.io/release';
const system = `linux/${process.arch === 'arm64' ? 'arm64' : 'amd64'}`;

/** Fetches it from the Kubernetes project's releases, and takes it only if it is what their checksum says. */
export const downloadedFrom =
  (releases: string): KubectlWay =>
  async (options) => {
    const version = versionIn(modules);
    const address = `${releases}/v${version}/bin/${system}/kubectl`;
    options.say(`kubectl ${version}: fetching ${address}`);
    return await kept(version, options, async (directory) => {
      const sum = (await text(await fetched(`${address}.sha256`))).trim().split(/\s/)[0];
      const program = await buffer(await fetched(address));
      if (createHash('sha256').update(program).digest('hex') !== sum)
        throw new Failure('rejected', `${address} is not what its checksum says.`);
      await writeFile(join(directory, 'kubectl'), program);
      await chmod(join(directory, 'kubectl'), 0o755);
    });
  };

/** In the order in which they are tried. */
export const kubectlWays: readonly KubectlWay[] = [fromDebian, built, downloadedFrom(projectReleases)];

/** Keeps in the cache what was made whole, and nothing else. */
async function kept(
  version: string,
  { cache }: WayOptions,
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
