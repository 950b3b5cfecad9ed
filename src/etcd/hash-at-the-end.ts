import { createHash } from 'node:crypto';

export const hashLength = 32;

/** Hashes all but the last bytes of a stream, and compares those with the hash: so etcd ends its snapshots. */
export class HashAtTheEnd {
  readonly #hash = createHash('sha256');
  #end: Buffer = Buffer.alloc(0);

  update(part: Uint8Array): void {
    if (part.byteLength < hashLength) return this.#take(Buffer.concat([this.#end, part]));
    this.#hash.update(this.#end);
    this.#take(part);
  }

  matches(): boolean {
    return this.#hash.copy().digest().equals(this.#end);
  }

  /** What the stream says its hash is; nothing before it has come to its end. */
  get written(): string {
    return this.#end.toString('hex');
  }

  /** Keeps a copy of what may be the end: the sender of a part may use its memory again. */
  #take(unhashed: Uint8Array): void {
    const length = Math.max(0, unhashed.byteLength - hashLength);
    this.#hash.update(unhashed.subarray(0, length));
    this.#end = Buffer.from(unhashed.subarray(length));
  }
}
