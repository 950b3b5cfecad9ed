import { describe, expect, it } from 'vitest';
import { forgetWhenOver, Memories } from './memories.ts';
import { done, type Outcome, requeueAfter } from './outcome.ts';

async function sizesAfter(outcome: Outcome, isOver: boolean): Promise<Readonly<Record<string, number>>> {
  const memories = new Memories();
  memories.map('events').set('a', 1).set('b', 1);
  await forgetWhenOver(
    async () => outcome,
    memories,
    () => isOver,
  )('a', new AbortController().signal);
  return memories.sizes();
}

describe('the memory of a key', () => {
  it('is dropped once a pass is done and the key is over, not before', async () => {
    expect(await sizesAfter(done, true)).toEqual({ events: 1 });
    expect(await sizesAfter(done, false)).toEqual({ events: 2 });
    expect(await sizesAfter(requeueAfter(1), true)).toEqual({ events: 2 });
  });

  it('is kept in the memories named in `kept`', () => {
    const memories = new Memories();
    for (const name of ['events', 'warnings']) memories.map(name).set('a', 1);
    memories.forget('a', ['warnings']);
    expect(memories.sizes()).toEqual({ events: 0, warnings: 1 });
  });
});
