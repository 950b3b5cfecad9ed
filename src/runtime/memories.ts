import type { Reconcile } from './worker.ts';

/** Something that is kept in memory from one pass to the next, for each key by itself. */
export interface Memory {
  readonly size: number;
  /** The key is gone for good. */
  forget(key: string): void;
}

/** All that a controller keeps in memory of its keys, so that nothing of a key outlives it. */
export class Memories {
  readonly #named = new Map<string, Memory>();

  /** Each memory has a name of its own. */
  add<T extends Memory>(name: string, memory: T): T {
    this.#named.set(name, memory);
    return memory;
  }

  /** The same for a map by key. */
  map<T>(name: string): Map<string, T> {
    const map = new Map<string, T>();
    this.add(name, {
      get size() {
        return map.size;
      },
      forget: (key) => void map.delete(key),
    });
    return map;
  }

  /** `kept`: the names of memories that go on. */
  forget(key: string, kept: readonly string[] = []): void {
    for (const [name, memory] of this.#named) if (!kept.includes(name)) memory.forget(key);
  }

  /** How much each of them holds. */
  sizes(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#named].map(([name, { size }]) => [name, size]));
  }
}

/** Passes after which nothing is remembered of a key that is not looked after any more. */
export const forgetting =
  (
    reconcile: Reconcile<string>,
    memories: Pick<Memories, 'forget'>,
    isOver: (key: string) => boolean,
  ): Reconcile<string> =>
  async (key, signal) => {
    const outcome = await reconcile(key, signal);
    if (outcome.is === 'done' && isOver(key)) memories.forget(key);
    return outcome;
  };
