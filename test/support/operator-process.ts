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

/** A bundle of the current sources: the bundle of the lab, or a new one that is deleted with this process. */
const program = process.env['LAB_OPERATOR_PROGRAM'] ?? (await ownBundle());
const environment = { ...process.env, NODE_COMPILE_CACHE: join(dirname(program), 'compiled') };

/** The bundle files of the controllers and of the kubeconfig library. The other files are for stores and the lab. */
const operatorFiles = /^(operator|backups|schedules|restores|dist)-.*\.mjs$/;

let isCompiled = false;

async function ownBundle(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'operator-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  await bundle(directory);
  return bundleOf('etcd-operator', directory);
}

/** Fills the compile cache once, because a killed process does not write it. */
function compile(): void {
  if (isCompiled) return;
  const parts = readdirSync(dirname(program)).filter((file) => operatorFiles.test(file));
  const load = parts.map((part) => `await import('${join(dirname(program), part)}');`).join('');
  execFileSync(process.execPath, ['--input-type=module', '--eval', load], { env: environment });
  isCompiled = true;
}

/** The operator as a local process outside the cluster, which tests can kill at any log line. */
export interface OperatorProcess {
  /** Sends SIGKILL, and waits until the process has ended. */
  readonly kill: () => Promise<void>;
  /** Sends SIGTERM, and waits until the process has ended: it releases its lease. */
  readonly stop: () => Promise<void>;
  /** Sends SIGSTOP; `resume` sends SIGCONT. */
  readonly suspend: () => void;
  readonly resume: () => void;
  /** Resolves when the process has ended. */
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
      // Other hosts may answer at the pod IPs of the lab.
      .concat(isOnTheLab() ? ['--reach-pods=port-forward'] : [])
      .concat(flags),
    { stdio: ['ignore', 'pipe', 'inherit'], env: environment },
  );
  const ended = once(child, 'close'); // after all its output was read
  createInterface({ input: child.stdout }).on('line', (line) => onLine(JSON.parse(line) as LogLine));
  return {
    kill: () => endedBy('SIGKILL', child, ended),
    stop: () => endedBy('SIGTERM', child, ended),
    suspend: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    ended,
  };
}

async function endedBy(signal: NodeJS.Signals, child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill(signal);
  await ended;
}
