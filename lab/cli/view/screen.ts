import type { WriteStream } from 'node:tty';
import type { EtcdCluster } from './cluster-changes.ts';
import { linesOf } from './view.ts';

const escape = '\u001B[';
const enter = `${escape}?1049h${escape}?25l`;
const leave = `${escape}?25h${escape}?1049l`;
const maxLines = 200;

/** The live view on a terminal's alternate screen. The printed lines are repeated when it is closed. */
export class Screen implements Disposable {
  readonly revisions = new Map<string, string>();
  clusters: () => readonly EtcdCluster[] = () => [];
  hints: readonly string[] = [];
  readonly #out: WriteStream;
  readonly #lines: string[] = [];
  readonly #redraw = (): void => this.draw();
  #isScheduled = false;
  #isClosed = false;

  constructor(out: WriteStream) {
    this.#out = out;
    out.write(enter);
    out.on('resize', this.#redraw);
  }

  print(line: string): void {
    this.#lines.push(...line.split('\n'));
    this.#lines.splice(0, this.#lines.length - maxLines);
    this.draw();
  }

  /** Redraws soon; several changes are drawn at once. */
  draw(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#write();
    });
  }

  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#out.off('resize', this.#redraw);
    this.#out.write(`${leave}${this.#lines.join('\n')}\n`);
  }

  #write(): void {
    if (this.#isClosed) return;
    // A terminal may report no size.
    const [columns, rows] = [this.#out.columns || 80, this.#out.rows || 24];
    const { revisions, hints } = this;
    const lines = linesOf({ clusters: this.clusters(), revisions, hints, lines: this.#lines }, { columns, rows });
    this.#out.write(`${escape}H${lines.map((line) => `${line}${escape}K`).join('\r\n')}${escape}J`);
  }
}
