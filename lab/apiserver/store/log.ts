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

/** A change as a line of the log: a key with its new object, or without one after a deletion. */
export interface LogEntry {
  readonly version: number;
  readonly key: string;
  readonly object?: KubeObject;
}

const compactAboveBytes = 8 * 1024 * 1024;

/**
 * Stores all objects in one append-only file, a change a line. A line is written before its request is answered: it
 * survives the end of the process, but not a power cut. An incomplete last line was never answered. A file that has
 * grown far beyond its content is rewritten beside itself and renamed.
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

  /** All changes in the file, oldest first. */
  *read(): Generator<LogEntry> {
    if (!existsSync(this.#path)) return;
    const text = readFileSync(this.#path, 'utf8');
    const whole = text.lastIndexOf('\n') + 1;
    if (whole < text.length) this.#truncate(Buffer.byteLength(text.slice(0, whole)));
    for (const line of text.slice(0, whole).split('\n')) if (line !== '') yield JSON.parse(line) as LogEntry;
  }

  /** Appends a change. On a full disk the incomplete line is removed: it would corrupt the next. */
  append(change: LogEntry): void {
    try {
      this.#size += writeWhole(this.#file, change);
    } catch (error) {
      ftruncateSync(this.#file, this.#size);
      throw error;
    }
  }

  get shouldCompact(): boolean {
    return this.#size > this.#compactAt;
  }

  /** Rewrites the file with the current objects only. Without disk space for it, the long file stays in use. */
  rewrite(changes: Iterable<LogEntry>): void {
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

  #truncate(size: number): void {
    truncateSync(this.#path, size);
    this.#size = size;
  }
}

function writeAll(file: number, changes: Iterable<LogEntry>): number {
  let size = 0;
  for (const change of changes) size += writeWhole(file, change);
  fsyncSync(file);
  return size;
}

/** Writes the whole line: an almost full disk accepts a part and fails only at the next write. */
function writeWhole(file: number, change: LogEntry): number {
  const line = Buffer.from(`${JSON.stringify(change)}\n`);
  for (let done = 0; done < line.length; ) done += writeSync(file, line, done);
  return line.length;
}
