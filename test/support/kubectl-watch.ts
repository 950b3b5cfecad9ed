import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { patience } from './patience.ts';

/** A command of kubectl's that goes on for ever, with what it shows; ended by Ctrl-C when that is enough. */
export async function watchedUntil(
  words: readonly string[],
  isEnough: (shown: string) => boolean,
  seconds = 120,
): Promise<string> {
  const child = spawn('kubectl', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), seconds * patience * 1000);
  let shown = '';
  for await (const chunk of child.stdout) {
    shown += String(chunk);
    if (isEnough(shown)) child.kill('SIGINT');
  }
  clearTimeout(timer);
  await ended;
  if (!isEnough(shown)) throw new Error(`kubectl ${words.join(' ')} has shown only:\n${shown}`);
  return shown;
}
