import { EventEmitter } from 'node:events';
import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { formatLine, LineSplitter, type LogLine } from './log-line.ts';

/** The size limit of one run's log. Output beyond it is dropped. */
const maxBytes = 64 * 1024 * 1024;
/** The number of lines that a termination message may take from the log. */
const tailLines = 80;

/** The log of one run of a container: written to a file, and streamed to followers. */
export class LogFile {
  readonly path: string;
  readonly #file: WriteStream;
  readonly #followers = new EventEmitter<{ line: [LogLine]; end: [] }>();
  readonly #tail: string[] = [];
  #bytes = 0;
  #open = 0;
  #isEnded = false;
  /** True if the file cannot be written, for example because the disk is full. */
  #isBroken = false;

  constructor(path: string) {
    this.path = path;
    mkdirSync(dirname(path), { recursive: true });
    this.#file = createWriteStream(path, { flags: 'a', mode: 0o600 });
    this.#file.on('error', () => (this.#isBroken = true)); // followers still receive all lines
    this.#followers.setMaxListeners(0);
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The last lines, for a termination message. */
  get tail(): string {
    return this.#tail.join('\n');
  }

  take(stream: LogLine['stream'], from: Readable): void {
    const splitter = new LineSplitter();
    this.#open++;
    from.setEncoding('utf8');
    from.on('data', (chunk: string) => this.#write(stream, splitter.take(chunk)));
    from.once('close', () => {
      this.#write(stream, splitter.end());
      if (--this.#open === 0) this.#end();
    });
  }

  /** Calls back for every line from now on; returns a function that ends it. */
  follow(onLine: (line: LogLine) => void, onEnd: () => void): () => void {
    this.#followers.on('line', onLine);
    this.#followers.once('end', onEnd);
    return () => {
      this.#followers.off('line', onLine);
      this.#followers.off('end', onEnd);
    };
  }

  /** Resolves when all output so far is in the file. */
  async flushed(): Promise<void> {
    if (this.#isEnded || this.#isBroken) return;
    await new Promise<void>((resolve) => {
      this.#file.write('', () => resolve());
    });
  }

  #write(stream: LogLine['stream'], lines: readonly string[]): void {
    for (const output of lines) {
      const line = { time: new Date().toISOString(), stream, text: output.replace(/\r$/, '') };
      const text = formatLine(line);
      this.#bytes += text.length;
      if (this.#bytes <= maxBytes && !this.#isBroken) this.#file.write(text);
      this.#tail.push(output);
      if (this.#tail.length > tailLines) this.#tail.shift();
      this.#followers.emit('line', line);
    }
  }

  #end(): void {
    this.#isEnded = true;
    if (this.#isBroken) this.#followers.emit('end');
    else this.#file.end(() => this.#followers.emit('end'));
  }
}
