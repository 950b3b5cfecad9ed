import type { Body } from './store.ts';

/** One of the parts into which a body is cut for a store that wants large ones. */
export interface Part {
  readonly number: number;
  readonly bytes: Buffer;
  readonly isLast: boolean;
}

/** Cuts a body into parts of one size, the last of which may be smaller or empty. There is always at least one. */
export async function* inParts(body: Body, size: number): AsyncGenerator<Part, void, undefined> {
  let number = 1;
  let filling = new Filling(size);
  for await (const piece of body) {
    for (let rest = filling.take(piece); rest.byteLength > 0; rest = filling.take(rest)) {
      yield { number: number++, bytes: filling.bytes, isLast: false };
      filling = new Filling(size);
    }
  }
  yield { number, bytes: filling.bytes, isLast: true };
}

class Filling {
  readonly #room: Buffer;
  #filled = 0;

  constructor(size: number) {
    this.#room = Buffer.allocUnsafeSlow(size);
  }

  get bytes(): Buffer {
    return this.#room.subarray(0, this.#filled);
  }

  /** Takes as much as there is room for, and gives back the rest. */
  take(piece: Uint8Array): Uint8Array {
    const some = piece.subarray(0, this.#room.byteLength - this.#filled);
    this.#room.set(some, this.#filled);
    this.#filled += some.byteLength;
    return piece.subarray(some.byteLength);
  }
}
