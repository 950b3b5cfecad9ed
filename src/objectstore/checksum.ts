import { crc32 } from 'node:zlib';
import type { ByteStream } from './store.ts';

/** Length and CRC-32 of a body, to compare the bytes that a store returns with the bytes sent. */
export class Checksum {
  #bytes = 0;
  #crc = 0;

  /** Adds the bytes of a body while passing it on. */
  async *of(body: ByteStream): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const part of body) {
      this.#bytes += part.byteLength;
      this.#crc = crc32(part, this.#crc);
      yield part;
    }
  }

  /** Reads a body to its end and returns its checksum. */
  static async reading(body: ByteStream): Promise<Checksum> {
    const sum = new Checksum();
    for await (const _part of sum.of(body));
    return sum;
  }

  equals(other: Checksum): boolean {
    return this.#bytes === other.#bytes && this.#crc === other.#crc;
  }

  /** For messages. */
  get text(): string {
    return `${this.#bytes} bytes with CRC-32 ${this.#crc.toString(16).padStart(8, '0')}`;
  }
}
