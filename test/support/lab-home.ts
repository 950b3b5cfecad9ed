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

/** A UID without an account and without privileges. */
const unprivilegedUid = 61_234;
const program = join(import.meta.dirname, '../../lab/main.ts');
const node = join(import.meta.dirname, `../../node_modules/node-linux-${process.arch}/bin/node`);

type EtcdVersion = Parameters<typeof etcdProgram>[0];

/** The home of an ordinary user of the lab: a directory, and some versions of etcd from the given directories. */
export class LabHome {
  readonly directory = mkdtempSync(join(tmpdir(), 'lab-test-'));
  #operator: string | undefined;

  constructor(programs: Readonly<Record<string, string>>) {
    for (const folder of ['home', 'bin', 'cache/programs'])
      mkdirSync(join(this.directory, folder), { recursive: true });
    for (const [version, from] of Object.entries(programs))
      linkFiles(from, join(this.directory, `cache/programs/etcd-${version}`));
    const busybox = join(debianRoot(), 'bin/busybox');
    if (existsSync(busybox)) copyFileSync(busybox, join(this.directory, 'bin/busybox'));
  }

  /** A home with etcd programs that are already built. */
  static withBuilt(versions: readonly EtcdVersion[]): LabHome {
    return new LabHome(Object.fromEntries(versions.map((each) => [each, dirname(etcdProgram(each, 'etcd'))])));
  }

  get state(): string {
    return join(this.directory, 'home');
  }

  /** Compiles the lab, as `make lab` does before the first start. */
  async compile(): Promise<void> {
    const [code] = (await once(
      this.#node([join(import.meta.dirname, '../../tools/compile.ts')], 'inherit'),
      'exit',
    )) as [number];
    if (code !== 0) throw new Error('the lab could not be compiled');
  }

  /**
   * Makes the operator's image run a bundle of the current sources, which starts in half the time: the given bundle, or a new
   * one. Returns the program.
   */
  async useOperatorBundle(given: string | undefined): Promise<string> {
    this.#operator = given || (await this.#bundle());
    return this.#operator;
  }

  async #bundle(): Promise<string> {
    const directory = join(this.directory, 'operator');
    await bundle(directory);
    return bundleOf('etcd-operator', directory);
  }

  /** Gives the writable files to the ordinary user. Programs stay readable only. */
  async giveToUser(): Promise<void> {
    if (isRoot()) {
      const user = `${unprivilegedUid}:${unprivilegedUid}`;
      await run('chown', [user, this.directory]);
      await run('chown', ['-R', user, this.state]);
    }
    chmodSync(this.directory, 0o755);
  }

  /** Starts the lab as that user, as `make lab` does. `within` is a command prefix that executes the lab. */
  command(args: readonly string[], output: number | 'inherit', within: readonly string[] = []): ChildProcess {
    const line = [...within, node, program, '--state', this.state, ...args];
    return this.#spawn(line, ['ignore', output, output]);
  }

  /** Starts the lab in a terminal of this size, with stdin and stdout as pipes. */
  inTerminal(args: readonly string[], { columns, rows }: { columns: number; rows: number }): ChildProcess {
    const line = [node, program, '--state', this.state, ...args].join(' ');
    const typed = `stty cols ${columns} rows ${rows}; exec ${line}`;
    return this.#spawn(['script', '-qfec', typed, '/dev/null'], ['pipe', 'pipe', 'inherit']);
  }

  #node(args: readonly string[], output: number | 'inherit'): ChildProcess {
    return this.#spawn([node, ...args], ['ignore', output, output]);
  }

  #spawn(line: readonly string[], stdio: StdioOptions): ChildProcess {
    const ids = [`--reuid=${unprivilegedUid}`, `--regid=${unprivilegedUid}`, '--clear-groups'];
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
    // A killed test must not leave its lab behind.
    const ending = ['setpriv', '--pdeathsig', 'TERM'];
    // The lab is one process for a whole cluster: among fifty busy processes it would get a fiftieth of the CPU.
    const [first = '', ...rest] = isRoot() ? ['nice', '-n', '-10', ...ending, ...ids] : ending;
    return spawn(first, [...rest, '--', ...line], { env, stdio, cwd: '/' });
  }

  /** Processes and mounts of the lab that are left on this machine. */
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

/** Hard-links programs if possible, because they are large; otherwise copies them. */
function linkFiles(from: string, to: string): void {
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

/** A file of a process in /proc; empty if the process has ended. */
function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
