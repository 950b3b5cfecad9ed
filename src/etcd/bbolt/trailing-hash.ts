import { createHash } from 'node:crypto';

export const hashLength = 32;

/** Verifies the SHA-256 that etcd appends to its snapshots: hashes all bytes but the last 32, and compares. */
export class TrailingHash {
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

  /** The hash at the end of the stream. Valid only after the last part. */
  get written(): string {
    return this.#end.toString('hex');
  }

  /** Copies the bytes that may be the end, because the caller may reuse the memory of a part. */
  #take(unhashed: Uint8Array): void {
    const length = Math.max(0, unhashed.byteLength - hashLength);
    this.#hash.update(unhashed.subarray(0, length));
    this.#end = Buffer.from(unhashed.subarray(length));
  }
}
