/** A line of a container's log, as it is kept on disk: `2026-01-01T00:00:00.000Z stdout text`. */
export interface LogLine {
  readonly time: string;
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
}

export const written = ({ time, stream, text }: LogLine): string => `${time} ${stream} ${text}\n`;

export function readLine(line: string): LogLine | undefined {
  const [, time, stream, text = ''] = /^(\S+) (stdout|stderr) (.*)$/s.exec(line) ?? [];
  return time === undefined ? undefined : { time, stream: stream === 'stderr' ? 'stderr' : 'stdout', text };
}

/** Cuts chunks into lines. What is not ended by a newline waits for the rest, or for `end`. */
export class LineCutter {
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
