/** A line of a container's log, as it is in the file: `2026-01-01T00:00:00.000Z stdout text`. */
export interface LogLine {
  readonly time: string;
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
}

export const formatLine = ({ time, stream, text }: LogLine): string => `${time} ${stream} ${text}\n`;

export function parseLine(line: string): LogLine | undefined {
  const [, time, stream, text = ''] = /^(\S+) (stdout|stderr) (.*)$/s.exec(line) ?? [];
  return time === undefined ? undefined : { time, stream: stream === 'stderr' ? 'stderr' : 'stdout', text };
}

/** Splits chunks into lines. An unfinished line waits for the rest, or for `end`. */
export class LineSplitter {
  #rest = '';

  take(chunk: string): readonly string[] {
    const lines = (this.#rest + chunk).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines;
  }

  end(): readonly string[] {
    const rest = this.#rest;
    this.#rest = '';
    return rest === '' ? [] : [rest];
  }
}
