import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { bundle, bundleOf } from '../../tools/bundle.ts';
import { isOnTheLab } from './place.ts';

/** A line of the operator's log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** A bundle of today's sources: the one that the lab runs, or one of our own for as long as this process lasts. */
const program = process.env['LAB_OPERATOR_PROGRAM'] ?? (await ownBundle());
const environment = { ...process.env, NODE_COMPILE_CACHE: join(dirname(program), 'compiled') };

/** Its controllers, and the library that reads a kubeconfig; the rest is for stores and for the lab. */
const ofOperator = /^(operator|backups|schedules|restores|dist)-.*\.mjs$/;

let isCompiled = false;

async function ownBundle(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'operator-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  await bundle(directory);
  return bundleOf('etcd-operator', directory);
}

/** A process that is killed keeps nothing of what it has compiled; so the parts are compiled once beforehand. */
function compile(): void {
  if (isCompiled) return;
  const parts = readdirSync(dirname(program)).filter((file) => ofOperator.test(file));
  const load = parts.map((part) => `await import('${join(dirname(program), part)}');`).join('');
  execFileSync(process.execPath, ['--input-type=module', '--eval', load], { env: environment });
  isCompiled = true;
}

/** The operator as a process of this computer, which sees the cluster from outside and can be killed at any line it writes. */
export interface OperatorProcess {
  /** Ends without a chance to say good-bye. */
  readonly kill: () => Promise<void>;
  /** Is stopped, as by `kill -STOP`, and goes on. */
  readonly suspend: () => void;
  readonly resume: () => void;
  /** Kept when it has ended by itself. */
  readonly ended: Promise<unknown>;
}

export function startOperatorProcess(
  { namespace, onLine }: { readonly namespace: string; readonly onLine: (line: LogLine) => void },
  flags: readonly string[] = [],
): OperatorProcess {
  compile();
  const child = spawn(
    process.execPath,
    [program, '--kubeconfig', process.env['KUBECONFIG'] ?? '', '--namespace', namespace, '--listen-addr', '127.0.0.1:0']
      .concat(['--create-crd=false', '--log-level=debug'])
      // At addresses of the lab's pods there may be others, who answer.
      .concat(isOnTheLab() ? ['--reach-pods=port-forward'] : [])
      .concat(flags),
    { stdio: ['ignore', 'pipe', 'inherit'], env: environment },
  );
  const ended = once(child, 'close'); // when all that it has written was heard
  createInterface({ input: child.stdout }).on('line', (line) => onLine(JSON.parse(line) as LogLine));
  return {
    kill: () => killed(child, ended),
    suspend: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    ended,
  };
}

async function killed(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}
