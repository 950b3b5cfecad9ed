import type { ByteStream } from './store.ts';

/** One part of a body, for a multipart upload. */
export interface Part {
  readonly number: number;
  readonly bytes: Buffer;
  readonly isLast: boolean;
  /** Releases the buffer for another part, so that an upload needs memory only for the parts in progress. */
  readonly release: () => void;
}

/** Splits a body into parts of one size. The last part may be smaller or empty. There is always at least one part. */
export async function* inParts(body: ByteStream, size: number): AsyncGenerator<Part, void, undefined> {
  let number = 1;
  const free: Buffer[] = [];
  let filling = new PartBuffer(free, size);
  for await (const piece of body) {
    for (let rest = filling.take(piece); rest.byteLength > 0; rest = filling.take(rest)) {
      yield { number: number++, bytes: filling.bytes, isLast: false, release: filling.release };
      filling = new PartBuffer(free, size);
    }
  }
  yield { number, bytes: filling.bytes, isLast: true, release: filling.release };
}

class PartBuffer {
  readonly release: () => void;
  readonly #room: Buffer;
  #filled = 0;

  constructor(free: Buffer[], size: number) {
    const room = free.pop() ?? Buffer.allocUnsafeSlow(size);
    this.#room = room;
    this.release = () => free.push(room);
  }

  get bytes(): Buffer {
    return this.#room.subarray(0, this.#filled);
  }

  /** Adds as many bytes as fit, and returns the rest. */
  take(piece: Uint8Array): Uint8Array {
    const some = piece.subarray(0, this.#room.byteLength - this.#filled);
    this.#room.set(some, this.#filled);
    this.#filled += some.byteLength;
    return piece.subarray(some.byteLength);
  }
}
