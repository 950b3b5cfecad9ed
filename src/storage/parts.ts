import type { Body } from './store.ts';

/** One of the parts into which a body is cut for a store that wants large ones. */
export interface Part {
  readonly number: number;
  readonly bytes: Buffer;
  readonly isLast: boolean;
  /** Gives the memory back for another part: so an upload takes as much as its parts under way, and leaves no heap of them. */
  readonly release: () => void;
}

/** Cuts a body into parts of one size, the last of which may be smaller or empty. There is always at least one. */
export async function* inParts(body: Body, size: number): AsyncGenerator<Part, void, undefined> {
  let number = 1;
  const free: Buffer[] = [];
  let filling = new Filling(free, size);
  for await (const piece of body) {
    for (let rest = filling.take(piece); rest.byteLength > 0; rest = filling.take(rest)) {
      yield { number: number++, bytes: filling.bytes, isLast: false, release: filling.release };
      filling = new Filling(free, size);
    }
  }
  yield { number, bytes: filling.bytes, isLast: true, release: filling.release };
}

class Filling {
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

  /** Takes as much as there is room for, and gives back the rest. */
  take(piece: Uint8Array): Uint8Array {
    const some = piece.subarray(0, this.#room.byteLength - this.#filled);
    this.#room.set(some, this.#filled);
    this.#filled += some.byteLength;
    return piece.subarray(some.byteLength);
  }
}
