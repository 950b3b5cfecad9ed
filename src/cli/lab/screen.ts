import type { WriteStream } from 'node:tty';
import type { EtcdCluster } from './tale.ts';
import { linesOf } from './view.ts';

const escape = '\u001B[';
const enter = `${escape}?1049h${escape}?25l`;
const leave = `${escape}?25h${escape}?1049l`;
const keptLines = 200;

/** A terminal that is drawn in place; what was said is printed again when it is left. */
export class Screen implements Disposable {
  readonly revisions = new Map<string, string>();
  clusters: () => readonly EtcdCluster[] = () => [];
  hints: readonly string[] = [];
  readonly #out: WriteStream;
  readonly #lines: string[] = [];
  readonly #redraw = (): void => this.draw();
  #isWaiting = false;
  #isOver = false;

  constructor(out: WriteStream) {
    this.#out = out;
    out.write(enter);
    out.on('resize', this.#redraw);
  }

  say(line: string): void {
    this.#lines.push(...line.split('\n'));
    this.#lines.splice(0, this.#lines.length - keptLines);
    this.draw();
  }

  /** Many changes at once are drawn once. */
  draw(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    setImmediate(() => {
      this.#isWaiting = false;
      this.#write();
    });
  }

  [Symbol.dispose](): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#out.off('resize', this.#redraw);
    this.#out.write(`${leave}${this.#lines.join('\n')}\n`);
  }

  #write(): void {
    if (this.#isOver) return;
    // A terminal may not know how large it is.
    const [columns, rows] = [this.#out.columns || 80, this.#out.rows || 24];
    const { revisions, hints } = this;
    const lines = linesOf({ clusters: this.clusters(), revisions, hints, lines: this.#lines }, { columns, rows });
    this.#out.write(`${escape}H${lines.map((line) => `${line}${escape}K`).join('\r\n')}${escape}J`);
  }
}
