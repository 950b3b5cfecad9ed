/** The number of objects of the first page, and the most of any page. */
const first = 10;
const most = 200;
/** The intended size of a page. */
const wantedBytes = 1024 * 1024;
/** The size limit of a page with several objects. A larger page is requested again with fewer objects. */
const mostBytes = 2 * 1024 * 1024;
/** The size limit of a page with one object. No object reaches it: Kubernetes refuses objects above 3 MiB. */
const mostBytesOfOne = 16 * 1024 * 1024;

/**
 * The number of objects to request per page. Users choose the size of their objects, so a page is limited by bytes: 500
 * objects of 1 MiB in one answer could exhaust the operator's memory.
 */
export class PageSize {
  #limit: number;
  readonly #most: number;

  constructor(limit: number | undefined) {
    this.#most = limit ?? most;
    this.#limit = limit ?? first;
  }

  get limit(): number {
    return this.#limit;
  }

  get mostBytes(): number {
    return this.#limit === 1 ? mostBytesOfOne : mostBytes;
  }

  /** Reduces the limit after a page that was too large. False if the limit was one object. */
  shrink(): boolean {
    if (this.#limit === 1) return false;
    this.#limit = Math.max(1, Math.floor(this.#limit / 8));
    return true;
  }

  /** Sets the limit of the next page from the size of the last one. */
  adapt({ bytes, objects }: { readonly bytes: number; readonly objects: number }): void {
    const fitting = Math.floor((wantedBytes * Math.max(objects, 1)) / Math.max(bytes, 1));
    this.#limit = Math.max(1, Math.min(fitting, this.#limit * 4, this.#most));
  }
}
