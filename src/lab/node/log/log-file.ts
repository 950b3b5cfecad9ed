import { EventEmitter } from 'node:events';
import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { LineCutter, type LogLine, written } from './log-line.ts';

/** How much of one container's output is kept: after this, nothing more is written. */
const mostBytes = 64 * 1024 * 1024;
/** What a termination message may take from the log. */
const tailLines = 80;

/** The log of one run of a container: on disk for good, and told to those who follow it. */
export class LogFile {
  readonly path: string;
  readonly #file: WriteStream;
  readonly #told = new EventEmitter<{ line: [LogLine]; end: [] }>();
  readonly #tail: string[] = [];
  #bytes = 0;
  #open = 0;
  #isEnded = false;
  /** Whether nothing more can be written. */
  #isBroken = false;

  constructor(path: string) {
    this.path = path;
    mkdirSync(dirname(path), { recursive: true });
    this.#file = createWriteStream(path, { flags: 'a', mode: 0o600 });
    this.#file.on('error', () => (this.#isBroken = true)); // a full disk: those who follow are told all the same
    this.#told.setMaxListeners(0);
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The last lines, for a termination message. */
  get tail(): string {
    return this.#tail.join('\n');
  }

  take(stream: LogLine['stream'], from: Readable): void {
    const cutter = new LineCutter();
    this.#open++;
    from.setEncoding('utf8');
    from.on('data', (chunk: string) => this.#write(stream, cutter.take(chunk)));
    from.once('close', () => {
      this.#write(stream, cutter.end());
      if (--this.#open === 0) this.#end();
    });
  }

  /** Tells of every line from now on; returns how to end it. */
  follow(onLine: (line: LogLine) => void, onEnd: () => void): () => void {
    this.#told.on('line', onLine);
    this.#told.once('end', onEnd);
    return () => {
      this.#told.off('line', onLine);
      this.#told.off('end', onEnd);
    };
  }

  /** Kept when all that was said up to now is on disk. */
  async flushed(): Promise<void> {
    if (this.#isEnded || this.#isBroken) return;
    await new Promise<void>((resolve) => {
      this.#file.write('', () => resolve());
    });
  }

  #write(stream: LogLine['stream'], lines: readonly string[]): void {
    for (const text of lines) {
      const line = { time: new Date().toISOString(), stream, text: text.replace(/\r$/, '') };
      const onDisk = written(line);
      this.#bytes += onDisk.length;
      if (this.#bytes <= mostBytes && !this.#isBroken) this.#file.write(onDisk);
      this.#tail.push(text);
      if (this.#tail.length > tailLines) this.#tail.shift();
      this.#told.emit('line', line);
    }
  }

  #end(): void {
    this.#isEnded = true;
    if (this.#isBroken) this.#told.emit('end');
    else this.#file.end(() => this.#told.emit('end'));
  }
}
