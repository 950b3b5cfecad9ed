/** Objects of a page at first, and at most. */
const first = 10;
const most = 200;
/** A page should have about as many bytes. */
const wantedBytes = 1024 * 1024;
/** A page of more than one object with more bytes than this is not read, and asked for again with fewer objects. */
const mostBytes = 2 * 1024 * 1024;
/** Kubernetes refuses objects of more than 3 MiB, and etcd those of more than 1.5 MiB: one object alone is always read. */
const mostBytesOfOne = 16 * 1024 * 1024;

/**
 * How many objects to ask for at once. Sizes of objects are chosen by their authors, so a page is limited by bytes: with
 * 500 objects of 1 MiB in one answer, a single tenant would end the operator.
 */
export class PageSize {
  #limit: number;
  readonly #most: number;

  constructor(asked: number | undefined) {
    this.#most = asked ?? most;
    this.#limit = asked ?? first;
  }

  get limit(): number {
    return this.#limit;
  }

  get mostBytes(): number {
    return this.#limit === 1 ? mostBytesOfOne : mostBytes;
  }

  /** The page was too large: fewer objects next time. False if one object alone is. */
  shrink(): boolean {
    if (this.#limit === 1) return false;
    this.#limit = Math.max(1, Math.floor(this.#limit / 8));
    return true;
  }

  /** Chooses the size of the next page by what the last one had. */
  learn({ bytes, objects }: { readonly bytes: number; readonly objects: number }): void {
    const fitting = Math.floor((wantedBytes * Math.max(objects, 1)) / Math.max(bytes, 1));
    this.#limit = Math.max(1, Math.min(fitting, this.#limit * 4, this.#most));
  }
}
