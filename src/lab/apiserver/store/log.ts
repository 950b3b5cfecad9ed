import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '../object.ts';

/** One change, as it is written down: a key with the object that is there now, or with nothing. */
export interface Change {
  readonly version: number;
  readonly key: string;
  readonly object?: KubeObject;
}

const compactAboveBytes = 8 * 1024 * 1024;

/**
 * Keeps the objects in one file to which changes are appended, each a line. A line is with the operating system before
 * its request is answered, so it survives the end of this process, though not a power cut. A last line that is not whole
 * was never answered. When the file has grown well beyond what it holds, it is written anew beside itself and renamed.
 */
export class Log {
  readonly #path: string;
  #file: number;
  #size: number;
  #compactAt: number;

  constructor(directory: string) {
    this.#path = join(directory, 'objects.log');
    this.#file = openSync(this.#path, 'a', 0o600);
    this.#size = fstatSync(this.#file).size;
    this.#compactAt = Math.max(compactAboveBytes, this.#size * 4);
  }

  /** All changes that are in the file, oldest first. */
  *read(): Generator<Change> {
    if (!existsSync(this.#path)) return;
    const text = readFileSync(this.#path, 'utf8');
    const whole = text.lastIndexOf('\n') + 1;
    if (whole < text.length) this.#cut(Buffer.byteLength(text.slice(0, whole)));
    for (const line of text.slice(0, whole).split('\n')) if (line !== '') yield JSON.parse(line) as Change;
  }

  /** On a disk that is full nothing is appended: half a line would spoil the next. */
  append(change: Change): void {
    try {
      this.#size += writeWhole(this.#file, change);
    } catch (error) {
      ftruncateSync(this.#file, this.#size);
      throw error;
    }
  }

  get isLong(): boolean {
    return this.#size > this.#compactAt;
  }

  /** Writes the file anew with only what is there now. Where there is no room for that, the long one serves on. */
  rewrite(changes: Iterable<Change>): void {
    const beside = `${this.#path}.new`;
    let fresh: number | undefined;
    try {
      rmSync(beside, { force: true });
      fresh = openSync(beside, 'a', 0o600);
      const size = writeAll(fresh, changes);
      renameSync(beside, this.#path);
      closeSync(this.#file);
      [this.#file, this.#size] = [fresh, size];
      this.#compactAt = Math.max(compactAboveBytes, size * 4);
    } catch {
      if (fresh !== undefined) closeSync(fresh);
      rmSync(beside, { force: true, recursive: true });
      this.#compactAt = this.#size + compactAboveBytes;
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  #cut(size: number): void {
    truncateSync(this.#path, size);
    this.#size = size;
  }
}

function writeAll(file: number, changes: Iterable<Change>): number {
  let size = 0;
  for (const change of changes) size += writeWhole(file, change);
  fsyncSync(file);
  return size;
}

/** A disk that has little room left takes a part, and refuses only the next. */
function writeWhole(file: number, change: Change): number {
  const line = Buffer.from(`${JSON.stringify(change)}\n`);
  for (let done = 0; done < line.length; ) done += writeSync(file, line, done);
  return line.length;
}
