import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../test/support/until.ts';
import { treeSeconds } from '../../tools/lib/cpu.ts';

const port = 8080;

/** The memory limit of the Deployment, in MiB. */
export function limitOfDeployment(): number {
  const file = readFileSync(join(import.meta.dirname, '../../deploy/coreos/operator-deployment.yaml'), 'utf8');
  return Number(/limits:\s+memory: (\d+)Mi/.exec(file)?.[1]);
}

interface OperatorOptions {
  readonly program: string;
  /** The environment of its pod. */
  readonly environment: Readonly<Record<string, string>>;
  readonly api: string;
  /** More flags for Node, such as `--cpu-prof`. */
  readonly nodeFlags: readonly string[];
}

/** The bundle of the operator, started as the image starts it. */
export class Operator {
  readonly #child: ChildProcess;
  readonly #pid: number;

  constructor({ program, environment, api, nodeFlags }: OperatorOptions) {
    const [first = ''] = readFileSync(program, 'utf8').split('\n', 1);
    const ofImage = first.split(' ').slice(1);
    // In a container, V8 uses half of the memory limit for its heap.
    const heap = `--max-old-space-size=${limitOfDeployment() / 2}`;
    const flags = ['--cluster-wide', '--create-crd=false', `--dialects=${api}`];
    const own = [`--listen-addr=127.0.0.1:${port}`, '--log-level=warn'];
    this.#child = spawn(process.execPath, [...ofImage, heap, ...nodeFlags, program, ...flags, ...own], {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { NODE_ENV: 'production', ...environment },
    });
    this.#pid = this.#child.pid ?? 0;
  }

  /** Waits until the operator leads. */
  async ready(): Promise<void> {
    await until('the operator is ready', async () => ((await this.#get('/readyz')).ok ? true : undefined));
  }

  /** The CPU time so far, in seconds. */
  cpuSeconds(): number {
    return treeSeconds([this.#pid]);
  }

  /** In MiB. */
  memory(of: 'VmRSS' | 'VmHWM'): number {
    const status = readFileSync(`/proc/${this.#pid}/status`, 'utf8');
    return Number(new RegExp(`${of}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
  }

  /** The 99th percentile of the event loop's lag since the last call, in milliseconds. */
  async lag(): Promise<number> {
    const text = await (await this.#get('/metrics')).text();
    return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(text)?.[1]) * 1000;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  readonly #get = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`);
}
