import { Random } from './random.ts';

interface Planned {
  readonly at: number;
  readonly order: number;
  readonly isInert: boolean;
  run: (() => void) | undefined;
}

/**
 * Virtual time. Events run one after the other, in the order of their times. Between two events all promises settle, so
 * the same seed gives the same order of everything.
 */
export class Scheduler {
  readonly random: Random;
  readonly #heap: Planned[] = [];
  #now = 0;
  #order = 0;

  constructor(seed: number) {
    this.random = new Random(seed);
  }

  /** Virtual milliseconds since the start of the life. */
  get now(): number {
    return this.#now;
  }

  /** Plans an event that may resolve promises. Returns a function that cancels it. */
  after(millis: number, run: () => void): () => void {
    return this.#plan(millis, run, false);
  }

  /** Plans an event that runs no code of the operator and resolves no promise, which is cheaper. */
  afterInert(millis: number, run: () => void): () => void {
    return this.#plan(millis, run, true);
  }

  #plan(millis: number, run: () => void, isInert: boolean): () => void {
    const planned: Planned = { at: this.#now + Math.max(0, millis), order: this.#order++, isInert, run };
    this.#push(planned);
    return () => void (planned.run = undefined);
  }

  /** Runs events until `time`, or until `isOver` holds. */
  async runUntil(time: number, isOver: () => boolean): Promise<void> {
    await settled();
    while (!isOver()) {
      const next = this.#heap[0];
      if (next === undefined || next.at > time) break;
      this.#pop();
      if (next.run === undefined) continue;
      this.#now = next.at;
      next.run();
      if (!next.isInert) await settled();
    }
    if (!isOver()) this.#now = Math.max(this.#now, time);
  }

  #push(planned: Planned): void {
    const heap = this.#heap;
    let child = heap.push(planned) - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!isBefore(planned, heap[parent])) break;
      heap[child] = heap[parent] as Planned;
      child = parent;
    }
    heap[child] = planned;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let parent = 0;
    for (;;) {
      let child = 2 * parent + 1;
      if (child >= heap.length) break;
      if (isBefore(heap[child + 1], heap[child])) child++;
      if (!isBefore(heap[child], last)) break;
      heap[parent] = heap[child] as Planned;
      parent = child;
    }
    heap[parent] = last;
  }
}

const isBefore = (a: Planned | undefined, b: Planned | undefined): boolean =>
  a !== undefined && b !== undefined && (a.at < b.at || (a.at === b.at && a.order < b.order));

/** Settles all promises: Node runs them to their end before the next immediate. */
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
