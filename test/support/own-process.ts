import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { cacheDirectory } from '../../tools/lib/cache.ts';
import { isOnTheLab } from './place.ts';

/** A line of the operator's log. */
export type LogLine = Readonly<Record<string, unknown>>;

const source = join(import.meta.dirname, '../../src');
const program = join(source, 'main/etcd-operator.ts');
const environment = { ...process.env, NODE_COMPILE_CACHE: join(cacheDirectory(), 'compiled-for-stories') };

let isCompiled = false;

/** Who is killed keeps nothing of what it has compiled; so that is done once beforehand, by one who ends well. */
function compile(): void {
  if (isCompiled) return;
  const parts = ['operator', 'controllers', 'backups', 'schedules', 'restores'].map((part) => `main/${part}.ts`);
  const load = parts.map((part) => `await import('${join(source, part)}');`).join('');
  const library = `await (await import('${join(source, 'kube/config.ts')}')).fromKubeconfig(process.env.KUBECONFIG)`;
  execFileSync(process.execPath, ['--input-type=module', '--eval', `${load}${library}`], { env: environment });
  isCompiled = true;
}

/** The operator as a process of this computer, which sees the cluster from outside and can be killed at any line it writes. */
export interface OperatorProcess {
  /** Ends without a chance to say good-bye. */
  readonly kill: () => Promise<void>;
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
  const ended = once(child, 'exit');
  createInterface({ input: child.stdout }).on('line', (line) => onLine(JSON.parse(line) as LogLine));
  return { kill: () => killed(child, ended) };
}

async function killed(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}
