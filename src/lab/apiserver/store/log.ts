import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
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
    this.#file = openSync(this.#path, 'a');
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

  append(change: Change): void {
    this.#size += writeSync(this.#file, `${JSON.stringify(change)}\n`);
  }

  get isLong(): boolean {
    return this.#size > this.#compactAt;
  }

  /** Writes the file anew with only what is there now. */
  rewrite(changes: Iterable<Change>): void {
    const fresh = openSync(`${this.#path}.new`, 'w');
    let size = 0;
    for (const change of changes) size += writeSync(fresh, `${JSON.stringify(change)}\n`);
    fsyncSync(fresh);
    renameSync(`${this.#path}.new`, this.#path);
    closeSync(this.#file);
    closeSync(fresh);
    this.#file = openSync(this.#path, 'a');
    this.#size = size;
    this.#compactAt = Math.max(compactAboveBytes, size * 4);
  }

  close(): void {
    closeSync(this.#file);
  }

  #cut(size: number): void {
    truncateSync(this.#path, size);
    this.#size = size;
  }
}
