import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bundle, bundleOf } from '../../tools/bundle.ts';
import { debianRoot } from '../../tools/debian/packages.ts';
import { environmentOf } from '../../tools/lib/processes.ts';
import { run } from '../../tools/lib/run.ts';
import { etcdProgram } from '../../tools/programs/build.ts';

/** Somebody without an account, and so without any rights. */
const nobodyInParticular = 61_234;
const program = join(import.meta.dirname, '../../src/main/etcd-operator.ts');
const node = join(import.meta.dirname, `../../node_modules/node-linux-${process.arch}/bin/node`);

type EtcdVersion = Parameters<typeof etcdProgram>[0];

/** What an ordinary user has who runs the lab: a directory, and some versions of etcd, each in a directory that is named. */
export class LabHome {
  readonly directory = mkdtempSync(join(tmpdir(), 'lab-test-'));
  #operator: string | undefined;

  constructor(programs: Readonly<Record<string, string>>) {
    for (const place of ['home', 'bin', 'cache/programs']) mkdirSync(join(this.directory, place), { recursive: true });
    for (const [version, from] of Object.entries(programs))
      bring(from, join(this.directory, `cache/programs/etcd-${version}`));
    const busybox = join(debianRoot(), 'bin/busybox');
    if (existsSync(busybox)) copyFileSync(busybox, join(this.directory, 'bin/busybox'));
  }

  /** With programs that are built already. */
  static withBuilt(versions: readonly EtcdVersion[]): LabHome {
    return new LabHome(Object.fromEntries(versions.map((each) => [each, dirname(etcdProgram(each, 'etcd'))])));
  }

  get state(): string {
    return join(this.directory, 'home');
  }

  /** As `make lab` does before the first start. */
  async compile(): Promise<void> {
    const [code] = (await once(
      this.#node([join(import.meta.dirname, '../../tools/compile.ts')], 'inherit'),
      'exit',
    )) as [number];
    if (code !== 0) throw new Error('the lab could not be compiled');
  }

  /**
   * Has the operator's image run a bundle of today's sources, which starts in half of the time: the one that is given, or one of
   * its own. Gives its program.
   */
  async bringOperator(given: string | undefined): Promise<string> {
    this.#operator = given || (await this.#bundle());
    return this.#operator;
  }

  async #bundle(): Promise<string> {
    const directory = join(this.directory, 'operator');
    await bundle(directory);
    return bundleOf('etcd-operator', directory);
  }

  /** What it may write becomes the ordinary user's; programs only have to be readable. */
  async handOver(): Promise<void> {
    if (isRoot()) {
      const user = `${nobodyInParticular}:${nobodyInParticular}`;
      await run('chown', [user, this.directory]);
      await run('chown', ['-R', user, this.state]);
    }
    chmodSync(this.directory, 0o755);
  }

  /** Starts `etcd-operator lab` as that user, in the way of `make lab`; `within`: by a program that becomes the one it is told. */
  command(words: readonly string[], output: number | 'inherit', within: readonly string[] = []): ChildProcess {
    const line = [...within, node, program, 'lab', '--state', this.state, ...words];
    return this.#spawn(line, ['ignore', output, output]);
  }

  /** The same in front of a terminal of that size: what is typed goes to its input, what it shows comes from its output. */
  inTerminal(words: readonly string[], { columns, rows }: { columns: number; rows: number }): ChildProcess {
    const line = [node, program, 'lab', '--state', this.state, ...words].join(' ');
    const typed = `stty cols ${columns} rows ${rows}; exec ${line}`;
    return this.#spawn(['script', '-qfec', typed, '/dev/null'], ['pipe', 'pipe', 'inherit']);
  }

  #node(words: readonly string[], output: number | 'inherit'): ChildProcess {
    return this.#spawn([node, ...words], ['ignore', output, output]);
  }

  #spawn(line: readonly string[], stdio: StdioOptions): ChildProcess {
    const ids = [`--reuid=${nobodyInParticular}`, `--regid=${nobodyInParticular}`, '--clear-groups'];
    const env = {
      PATH: `${join(this.directory, 'bin')}:/usr/bin:/bin`,
      HOME: this.state,
      XDG_CACHE_HOME: join(this.state, 'cache'),
      ETCD_OPERATOR_PROGRAMS: join(this.directory, 'cache/programs'),
      LAB_TEST: this.directory,
      NODE_COMPILE_CACHE: join(this.state, 'cache/etcd-operator/compiled'),
      NODE_OPTIONS: '--max-semi-space-size=2',
      ...(this.#operator === undefined ? {} : { LAB_OPERATOR_PROGRAM: this.#operator }),
    };
    // A test that is killed must not leave its lab behind.
    const ending = ['setpriv', '--pdeathsig', 'TERM'];
    // A whole cluster is one process here: among fifty others that want to run it would be given a fiftieth.
    const [first = '', ...rest] = isRoot() ? ['nice', '-n', '-10', ...ending, ...ids] : ending;
    return spawn(first, [...rest, '--', ...line], { env, stdio, cwd: '/' });
  }

  /** What is left of the lab on this machine: its own processes, and those that see something of its directory. */
  leftovers(): readonly string[] {
    const processes = readdirSync('/proc')
      .filter((entry) => /^\d+$/.test(entry))
      .filter((pid) => environmentOf(Number(pid)).includes(`LAB_TEST=${this.directory}`) || this.#isInside(pid))
      .map((pid) => `process ${pid} ${contentOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')}`);
    const mounts = contentOf('/proc/mounts').split('\n');
    return [...processes, ...mounts.filter((line) => line.includes(this.directory))];
  }

  #isInside(pid: string): boolean {
    return contentOf(`/proc/${pid}/mountinfo`).includes(this.directory);
  }
}

/** Programs are large: where it can be had, a second name for the same file will do. */
function bring(from: string, to: string): void {
  mkdirSync(to);
  for (const file of readdirSync(from)) {
    try {
      linkSync(join(from, file), join(to, file));
    } catch {
      copyFileSync(join(from, file), join(to, file));
    }
  }
}

const isRoot = (): boolean => process.getuid?.() === 0;

/** A file of a process, which may end in this moment. */
function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
