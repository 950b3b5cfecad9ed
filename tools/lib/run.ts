import { type SpawnOptions, spawn } from 'node:child_process';

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
  readonly signal?: AbortSignal;
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program that ended with a non-zero exit code. */
export class RunError extends Error {
  override readonly name = 'RunError';
  readonly ended: Ended;

  constructor(command: string, ended: Ended) {
    super(`${command}: exit code ${ended.code}\n${lastLines(ended.stderr || ended.stdout, 30)}`);
    this.ended = ended;
  }
}

/** Runs a program and returns its output. A non-zero exit code throws an error with the last lines of its output. */
export async function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const ended = await attempt(command, args, options);
  if (ended.code !== 0) throw new RunError([command, ...args].join(' ').slice(0, 400), ended);
  return ended.stdout;
}

/** Runs a program and returns its exit code and output. */
export function attempt(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, spawnOptions(options));
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.once('error', reject);
    child.once('close', (code) => {
      resolve({
        code: code ?? 255,
        stdout: Buffer.concat(stdout).toString(),
        stderr: Buffer.concat(stderr).toString(),
      });
    });
    child.stdin?.on('error', () => {}); // a program may exit before it has read its input
    child.stdin?.end(options.input ?? '');
  });
}

function spawnOptions({ cwd, env, signal }: RunOptions): SpawnOptions {
  return {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    ...(cwd === undefined ? {} : { cwd }),
    ...(signal === undefined ? {} : { signal }),
  };
}

export const lastLines = (text: string, count: number): string => text.trimEnd().split('\n').slice(-count).join('\n');
