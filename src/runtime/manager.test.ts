import { describe, expect, it } from 'vitest';
import { type Runnable, runTogether } from './manager.ts';

const untilStopped =
  (ended: string[], name: string): Runnable =>
  (signal) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        ended.push(name);
        resolve();
      });
    });

describe('runTogether', () => {
  it('ends all runnables when the signal aborts', async () => {
    const ended: string[] = [];
    const stop = new AbortController();
    const all = runTogether([untilStopped(ended, 'a'), untilStopped(ended, 'b')], stop.signal);
    stop.abort();
    await all;
    expect(ended).toEqual(['a', 'b']);
  });

  it('stops all runnables when one fails, and throws the first failure', async () => {
    const ended: string[] = [];
    const failsWhenStopped: Runnable = async (signal) => {
      await untilStopped(ended, 'a')(signal);
      throw new Error('a consequence');
    };
    const fails: Runnable = async () => {
      await Promise.resolve();
      throw new Error('the cause');
    };
    await expect(runTogether([failsWhenStopped, fails], new AbortController().signal)).rejects.toThrow('the cause');
    expect(ended).toEqual(['a']);
  });
});
