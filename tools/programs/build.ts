import { existsSync, readFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { cacheDirectory, keyOf, makeAtomically } from '../lib/cache.ts';
import { lock } from '../lib/lock.ts';
import { UserError } from '../lib/main.ts';
import { withProgress } from '../lib/progress.ts';
import { attempt, run } from '../lib/run.ts';
import { type EtcdVersion, type GoModule, goModules } from './catalog.ts';

/** The number of concurrent builds: one downloads while the other compiles. */
const buildsAtOnce = 2;

/** The directory of a module's built programs. Its name has the version and a hash of the inputs. */
export function programDirectory(module: GoModule): string {
  const directory = join(import.meta.dirname, module.name);
  const files = ['go.mod', 'go.sum', 'main.go'].map((file) => join(directory, file)).filter((file) => existsSync(file));
  return join(
    cacheDirectory(),
    'programs',
    `${titleOf(module)}-${keyOf(JSON.stringify(module), process.arch, ...files.map((file) => readFileSync(file)))}`,
  );
}

const titleOf = ({ name, version }: GoModule): string => (name.endsWith(version) ? name : `${name}-${version}`);

/** The path of one built program. */
export function program(moduleName: string, name: string): string {
  const module = goModules.find((candidate) => candidate.name === moduleName);
  if (module === undefined) throw new Error(`no module ${moduleName} in tools/programs/catalog.ts`);
  return join(programDirectory(module), name);
}

export const etcdProgram = (version: EtcdVersion, name: 'etcd' | 'etcdctl' | 'etcdutl'): string =>
  program(`etcd-${version}`, name);

type Wanted = (module: GoModule) => boolean;

/** Builds all missing programs, or those that `isWanted` selects. */
export async function buildPrograms(isWanted: Wanted = () => true): Promise<void> {
  if (missing(isWanted).length === 0) return;
  await assertGo();
  using _held = await lock(join(cacheDirectory(), 'programs.lock'), (holder) =>
    process.stderr.write(`waiting for process ${holder}, which is building programs\n`),
  );
  const todo = missing(isWanted);
  let started = 0;
  const worker = async (): Promise<void> => {
    for (let module = todo[started++]; module !== undefined; module = todo[started++]) {
      const next = module;
      await withProgress(`building ${titleOf(next)} (${started} of ${todo.length})`, () => build(next));
    }
  };
  await Promise.all(Array.from({ length: buildsAtOnce }, worker));
}

const missing = (isWanted: Wanted): readonly GoModule[] =>
  goModules.filter((module) => isWanted(module) && !existsSync(programDirectory(module)));

async function build(module: GoModule): Promise<void> {
  await makeAtomically(programDirectory(module), async (directory) => {
    const packages = Object.values(module.packages);
    const linkerFlags = `-s -w ${module.linkerFlags ?? ''}`;
    const args = ['build', '-mod=readonly', '-trimpath', '-ldflags', linkerFlags, '-o', `${directory}/`, ...packages];
    // At low priority, because test suites run beside.
    await run('nice', ['-n', '10', 'go', ...args], {
      cwd: join(import.meta.dirname, module.name),
      env: goEnvironment(module),
    });
    await nameAsCatalogued(module, directory);
  });
}

/** The environment of the build, without Go settings of the user, for reproducible programs. */
const goEnvironment = (module: GoModule): Record<string, string> => ({
  CGO_ENABLED: '0',
  GOFLAGS: '-buildvcs=false',
  GOWORK: 'off',
  GOTOOLCHAIN: module.toolchain ?? 'auto',
});

/**
 * The file name that Go gives a program: the last path element without a major version: `…/server/v3` becomes `server`.
 */
async function nameAsCatalogued(module: GoModule, directory: string): Promise<void> {
  for (const [name, packagePath] of Object.entries(module.packages)) {
    const built = basename(packagePath.replace(/\/v\d+$/, ''));
    if (built !== name) await rename(join(directory, built), join(directory, name));
  }
}

async function assertGo(): Promise<void> {
  const { code, stdout } = await attempt('go', ['env', 'GOVERSION']).catch(() => ({ code: 1, stdout: '' }));
  const [, minor = 0] = stdout.replace('go', '').split('.').map(Number);
  if (code === 0 && minor >= 21) return;
  throw new UserError(
    'Go 1.21 or newer is needed to build the test cluster (it fetches the exact version it needs by itself); ' +
      "put its bin directory on PATH, or install Debian's golang-go from trixie or bookworm-backports.",
  );
}
