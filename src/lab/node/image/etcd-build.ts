import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { searched } from '../../ground/tools.ts';
import type { MakePrograms } from './etcd-programs.ts';

const run = promisify(execFile);

export interface BuildOptions {
  readonly cache: string;
  /** Holds, for each version, a directory `etcd-<version>` with the module files it is built from. */
  readonly modules: string;
  readonly say: (line: string) => void;
}

/** Builds etcd from source where there is Go, and where its module files are known. */
export const buildEtcd =
  ({ cache, modules, say }: BuildOptions): MakePrograms =>
  async (version) => {
    const cwd = join(modules, `etcd-${version}`);
    if (searched('go') === undefined || !existsSync(join(cwd, 'go.mod'))) return undefined;
    say(`etcd ${version}: building it with Go, which takes about a minute`);
    const directory = join(cache, 'programs', `etcd-${version}`);
    const unfinished = `${directory}.${process.pid}`;
    await mkdir(unfinished, { recursive: true });
    const { packages, toolchain } = recipeOf(version);
    const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOWORK: 'off', GOTOOLCHAIN: toolchain };
    for (const [name, path] of Object.entries(packages)) {
      const args = ['build', '-mod=readonly', '-trimpath', '-ldflags', '-s -w', '-o', join(unfinished, name), path];
      await run('go', args, { cwd, env });
    }
    await rm(directory, { recursive: true, force: true });
    await rename(unfinished, directory);
    return { version, directory, from: 'its sources' };
  };

interface Recipe {
  readonly packages: Readonly<Record<string, string>>;
  readonly toolchain: string;
}

/** Where etcd's programs are in its sources has changed over the years; the oldest need an older Go. */
export function recipeOf(version: string): Recipe {
  const minor = Number(version.split('.')[1]);
  const root = minor >= 4 ? 'go.etcd.io/etcd' : 'github.com/coreos/etcd';
  if (minor < 5)
    return { packages: { etcd: root, etcdctl: `${root}/etcdctl` }, toolchain: minor <= 2 ? 'go1.21.13' : 'auto' };
  const packages = { etcd: `${root}/server/v3`, etcdctl: `${root}/etcdctl/v3`, etcdutl: `${root}/etcdutl/v3` };
  return { packages, toolchain: 'auto' };
}
