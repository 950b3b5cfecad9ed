import { describe, expect, it } from 'vitest';
import { forgetting, Memories } from './memories.ts';
import { again, done, type Outcome } from './outcome.ts';

async function sizesAfter(outcome: Outcome, isOver: boolean): Promise<Readonly<Record<string, number>>> {
  const memories = new Memories();
  memories.map('told').set('a', 1).set('b', 1);
  await forgetting(
    async () => outcome,
    memories,
    () => isOver,
  )('a', new AbortController().signal);
  return memories.sizes();
}

describe('what is remembered of a key', () => {
  it('goes with the key, and not before', async () => {
    expect(await sizesAfter(done, true)).toEqual({ told: 1 });
    expect(await sizesAfter(done, false)).toEqual({ told: 2 });
    expect(await sizesAfter(again(1), true)).toEqual({ told: 2 });
  });

  it('goes but for the memories that are named', () => {
    const memories = new Memories();
    for (const name of ['told', 'warnings']) memories.map(name).set('a', 1);
    memories.forget('a', ['warnings']);
    expect(memories.sizes()).toEqual({ told: 0, warnings: 1 });
  });
});
