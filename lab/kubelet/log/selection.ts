import type { LogRequest } from '../../streams.ts';
import type { LogLine } from './log-line.ts';

/** Selects and formats the lines that a log request asks for. */
export class LogSelection {
  readonly #request: LogRequest;
  #bytes = 0;

  constructor(request: LogRequest) {
    this.#request = request;
  }

  /** The requested lines among those already in the file. */
  past(lines: readonly LogLine[]): readonly LogLine[] {
    const { sinceTime, tailLines } = this.#request;
    const since = sinceTime === undefined ? Number.NEGATIVE_INFINITY : Date.parse(sinceTime);
    const recent = lines.filter(({ time }) => Date.parse(time) >= since);
    if (tailLines === undefined) return recent;
    return tailLines === 0 ? [] : recent.slice(-tailLines);
  }

  /** Formats a line, cut to the bytes that are left of limitBytes. */
  format({ time, text }: LogLine): string {
    const { timestamps, limitBytes } = this.#request;
    const line = `${timestamps ? `${time} ` : ''}${text}\n`;
    const left = limitBytes === undefined ? line.length : Math.max(0, limitBytes - this.#bytes);
    this.#bytes += line.length;
    return line.slice(0, left);
  }
}
