import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { patience } from './patience.ts';

/** Runs an endless kubectl command, and ends it with SIGINT once its output is enough; returns the output. */
export async function kubectlUntil(
  args: readonly string[],
  isEnough: (output: string) => boolean,
  seconds = 120,
): Promise<string> {
  const child = spawn('kubectl', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), seconds * patience * 1000);
  let output = '';
  for await (const chunk of child.stdout) {
    output += String(chunk);
    if (isEnough(output)) child.kill('SIGINT');
  }
  clearTimeout(timer);
  await ended;
  if (!isEnough(output)) throw new Error(`kubectl ${args.join(' ')} printed only:\n${output}`);
  return output;
}
