import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../sandbox/host-programs.ts';
import type { MakePrograms } from './etcd-programs.ts';

const run = promisify(execFile);

export interface BuildOptions {
  readonly cache: string;
  /** Holds the module files of each version in a directory `etcd-<version>`. */
  readonly modules: string;
  readonly print: (line: string) => void;
}

/** Builds etcd from source, if Go is installed and the module files of the version exist. */
export const buildEtcd =
  ({ cache, modules, print }: BuildOptions): MakePrograms =>
  async (version) => {
    const cwd = join(modules, `etcd-${version}`);
    if (findProgram('go') === undefined || !existsSync(join(cwd, 'go.mod'))) return undefined;
    print(`etcd ${version}: building with Go (about a minute)`);
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

/** The package paths of etcd's programs by version; versions up to 3.2 need an older Go. */
export function recipeOf(version: string): Recipe {
  const minor = Number(version.split('.')[1]);
  const root = minor >= 4 ? 'go.etcd.io/etcd' : 'github.com/coreos/etcd';
  if (minor < 5)
    return { packages: { etcd: root, etcdctl: `${root}/etcdctl` }, toolchain: minor <= 2 ? 'go1.21.13' : 'auto' };
  const packages = { etcd: `${root}/server/v3`, etcdctl: `${root}/etcdctl/v3`, etcdutl: `${root}/etcdutl/v3` };
  return { packages, toolchain: 'auto' };
}
