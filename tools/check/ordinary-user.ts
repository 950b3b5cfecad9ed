import { chmod, copyFile, cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { measured } from '../lib/measured.ts';
import { attempt, run } from '../lib/run.ts';
import { resultsDirectory, type SuiteResult } from '../lib/suites.ts';
import { program } from '../programs/build.ts';
import { foreignKubectl } from '../programs/catalog.ts';

const root = join(import.meta.dirname, '../..');

/** A user ID without an account, and so without privileges. */
const userId = 61_235;

/** The caches of npm and Go, which are kept between runs. All other files of the user are created anew. */
const packageCaches = '/var/tmp/etcd-operator-package-caches';

/**
 * Runs `make test` as a new contributor does: a fresh clone, an ordinary user with an empty home and cache, and an own
 * kubectl, the oldest that the lab accepts, first on the PATH. The caches of npm and Go are reused.
 */
export async function testAsOrdinaryUser(limitMillis: number): Promise<SuiteResult> {
  const place = await mkdtemp(join(tmpdir(), 'new-contributor-'));
  try {
    const [home, clone] = [join(place, 'home'), join(place, 'clone')];
    await mkdir(home);
    await mkdir(packageCaches, { recursive: true });
    await freshClone(clone);
    await mkdir(join(place, 'bin'));
    await copyFile(program(foreignKubectl, 'kubectl'), join(place, 'bin/kubectl'));
    await copyFile(join(homedir(), '.npmrc'), join(place, 'npmrc')).catch(() => undefined);
    await run('chown', ['-R', `${userId}:${userId}`, place, packageCaches]);
    await chmod(place, 0o755);
    const ended = await measured('setpriv', asUser(['make', 'test']), {
      cwd: clone,
      env: await environment(place),
      limitMillis,
    });
    await keepResults(clone);
    return resultOf(ended, await readFile(join(clone, 'test-results/tally'), 'utf8').catch(() => ''));
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

const asUser = (words: readonly string[]): readonly string[] => [
  `--reuid=${userId}`,
  `--regid=${userId}`,
  ...['--clear-groups', '--pdeathsig', 'TERM', '--'],
  ...['env', '-u', 'XDG_CACHE_HOME', '-u', 'KUBECONFIG', '-u', 'CI'],
  ...words,
];

/** Clones the last commit, and copies uncommitted changes on top. */
async function freshClone(clone: string): Promise<void> {
  await run('git', ['clone', '--quiet', '--no-hardlinks', root, clone]);
  const changed = await run('git', ['-C', root, 'ls-files', '-z', '--modified', '--others', '--exclude-standard']);
  for (const file of changed.split('\0').filter(Boolean))
    await cp(join(root, file), join(clone, file)).catch(() => rm(join(clone, file), { force: true }));
}

async function environment(place: string): Promise<Record<string, string>> {
  const ours = join(root, 'node_modules');
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((directory) => !directory.startsWith(ours));
  return {
    HOME: join(place, 'home'),
    PATH: [join(place, 'bin'), ...path].join(delimiter),
    npm_config_userconfig: join(place, 'npmrc'),
    npm_config_cache: join(packageCaches, 'npm'),
    GOMODCACHE: join(packageCaches, 'go-modules'),
    GOCACHE: join(packageCaches, 'go-build'),
    ...(await goSettings()),
  };
}

/** The Go proxy settings of the current user. */
async function goSettings(): Promise<Record<string, string>> {
  const { code, stdout } = await attempt('go', ['env', '-json', 'GOPROXY', 'GOSUMDB', 'GONOSUMDB', 'GOPRIVATE']).catch(
    () => ({ code: 1, stdout: '' }),
  );
  return code === 0 ? (JSON.parse(stdout) as Record<string, string>) : {};
}

/** Copies evidence, reports and story records out of the clone. */
async function keepResults(clone: string): Promise<void> {
  await cp(join(clone, 'test-results'), join(resultsDirectory, 'new-contributor'), { recursive: true }).catch(
    () => undefined,
  );
}

type Ended = Awaited<ReturnType<typeof measured>>;

function resultOf({ code, isOverdue, cpuSeconds, wallSeconds }: Ended, tally: string): SuiteResult {
  const [, passed = '0', failed = '0'] = /^(\d+) passed, (\d+) failed/m.exec(tally) ?? [];
  const why = isOverdue ? 'did not end in time' : `ended with ${code}`;
  const failures = code === 0 ? [] : [`make test as an ordinary user ${why}; see test-results/new-contributor`];
  const count = code === 0 ? 0 : Math.max(Number(failed), 1);
  return { passed: Number(passed), failed: count, failures, cpuSeconds, wallSeconds };
}
