import type { LogRequest } from '../../streams.ts';
import type { LogLine } from './log-line.ts';

/** Chooses and writes what was asked of a log. */
export class LogSelection {
  readonly #request: LogRequest;
  #bytes = 0;

  constructor(request: LogRequest) {
    this.#request = request;
  }

  /** Of the lines there are already, those that are wanted. */
  past(lines: readonly LogLine[]): readonly LogLine[] {
    const { sinceTime, tailLines } = this.#request;
    const since = sinceTime === undefined ? Number.NEGATIVE_INFINITY : Date.parse(sinceTime);
    const recent = lines.filter(({ time }) => Date.parse(time) >= since);
    if (tailLines === undefined) return recent;
    return tailLines === 0 ? [] : recent.slice(-tailLines);
  }

  /** A line as it is sent; cut, or empty, when enough bytes were sent. */
  shown({ time, text }: LogLine): string {
    const { timestamps, limitBytes } = this.#request;
    const line = `${timestamps ? `${time} ` : ''}${text}\n`;
    const left = limitBytes === undefined ? line.length : Math.max(0, limitBytes - this.#bytes);
    this.#bytes += line.length;
    return line.slice(0, left);
  }
}
