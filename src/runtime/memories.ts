import type { Reconcile } from './worker.ts';

/** State that is kept in memory between passes, by key. */
export interface KeyedMemory {
  readonly size: number;
  /** Drops the state of a deleted key. */
  forget(key: string): void;
}

/** All memories of a controller. A deleted key is dropped from all of them at once. */
export class Memories {
  readonly #named = new Map<string, KeyedMemory>();

  /** Registers a memory under a unique name. */
  add<T extends KeyedMemory>(name: string, memory: T): T {
    this.#named.set(name, memory);
    return memory;
  }

  /** Registers a new map by key. */
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

  /** Drops the key from all memories but those named in `kept`. */
  forget(key: string, kept: readonly string[] = []): void {
    for (const [name, memory] of this.#named) if (!kept.includes(name)) memory.forget(key);
  }

  /** The number of entries of each memory. */
  sizes(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#named].map(([name, { size }]) => [name, size]));
  }
}

/** Wraps a reconcile function: drops all memory of a key once a pass is done and `isOver` holds. */
export const forgetWhenOver =
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
