import { Failure } from '../../std/failure.ts';

/** The failure for a malformed database file. */
export const unreadable = (what: string): Failure => new Failure('rejected', `the database cannot be read: ${what}`);

/** Reads numbers in the byte order of the writer. Throws beyond the end of the buffer. */
export class Fields {
  readonly bytes: Buffer;
  readonly isLittleEndian: boolean;

  constructor(bytes: Buffer, isLittleEndian: boolean) {
    this.bytes = bytes;
    this.isLittleEndian = isLittleEndian;
  }

  u16(at: number): number {
    const { bytes } = this.slice(at, 2);
    return this.isLittleEndian ? bytes.readUInt16LE() : bytes.readUInt16BE();
  }

  u32(at: number): number {
    const { bytes } = this.slice(at, 4);
    return this.isLittleEndian ? bytes.readUInt32LE() : bytes.readUInt32BE();
  }

  u64(at: number): bigint {
    const { bytes } = this.slice(at, 8);
    return this.isLittleEndian ? bytes.readBigUInt64LE() : bytes.readBigUInt64BE();
  }

  slice(at: number, length: number = this.bytes.byteLength - at): Fields {
    const end = at + length;
    if (length < 0 || end > this.bytes.byteLength) throw unreadable('an element reaches beyond its page');
    return new Fields(this.bytes.subarray(at, end), this.isLittleEndian);
  }
}
