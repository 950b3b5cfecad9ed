import { closeSync, openSync, readSync } from 'node:fs';

const magic = 0x7f454c46;
const interpreterSegment = 3;

/** True if a program needs shared libraries: a 64-bit ELF with an interpreter, or a script. */
export function needsLibraries(path: string): boolean {
  const header = firstBytes(path, 4096);
  if (header.length < 64 || header.readUInt32BE(0) !== magic) return true;
  const offset = Number(header.readBigUInt64LE(32));
  const size = header.readUInt16LE(54);
  const count = header.readUInt16LE(56);
  return Array.from({ length: count }, (_, index) => offset + index * size)
    .filter((at) => at + 4 <= header.length)
    .some((at) => header.readUInt32LE(at) === interpreterSegment);
}

function firstBytes(path: string, count: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(count);
    return bytes.subarray(0, readSync(file, bytes, 0, count, 0));
  } finally {
    closeSync(file);
  }
}
