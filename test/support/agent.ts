import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface AgentRun {
  readonly child: ChildProcess;
  /** The exit code and the termination message; no message if the agent was killed. */
  readonly ended: Promise<{ readonly code: number | null; readonly result: Record<string, unknown> | undefined }>;
}

const program = join(import.meta.dirname, '../../src/operator/etcd-operator.ts');
let runs = 0;

/** Starts an agent as its pod would; `directory` is for its termination message. */
export function startAgent(directory: string, verb: string, flags: readonly string[]): AgentRun {
  const message = join(directory, `message-${runs++}`);
  // The kernel kills the agent when this process ends.
  const command = ['--pdeathsig', 'KILL', process.execPath, program, 'agent', verb, ...flags, '--result', message];
  const child = spawn('setpriv', command, { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'exit').then(([code]) => ({ code: code as number | null, result: resultIn(message) }));
  return { child, ended };
}

function resultIn(file: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** Runs an agent to its end; returns its termination message. */
export async function agent(
  directory: string,
  verb: string,
  flags: readonly string[],
): Promise<Record<string, unknown> | undefined> {
  return (await startAgent(directory, verb, flags).ended).result;
}
