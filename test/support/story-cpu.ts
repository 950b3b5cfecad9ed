import { readdirSync, readFileSync } from 'node:fs';

/** The sampling interval. Processes with a shorter life are missed. */
const everyMillis = 2_000;
const ticksPerSecond = 100;

/**
 * The CPU seconds of one story: of this test process and its children, and of the processes of its pods. The processes of pods
 * have the unique namespace of the story in their command line or environment.
 */
export class StoryCpu {
  readonly #namespace: string;
  readonly #began = ownSeconds();
  readonly #isOfStory = new Map<string, boolean>();
  readonly #seconds = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(namespace: string) {
    this.#namespace = namespace;
    this.#timer = setInterval(() => this.#sample(), everyMillis);
    this.#timer.unref();
  }

  /** Ends the sampling; returns the CPU seconds. */
  total(): number {
    clearInterval(this.#timer);
    this.#sample();
    const pods = [...this.#seconds.values()].reduce((total, seconds) => total + seconds, 0);
    return ownSeconds() - this.#began + pods;
  }

  #sample(): void {
    for (const pid of readdirSync('/proc')) {
      if (!/^\d+$/.test(pid) || pid === String(process.pid)) continue;
      const stat = contentOf(`/proc/${pid}/stat`);
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(fields[1]) === process.pid) continue; // a child is counted when it has ended
      const key = `${pid} ${fields[19]} ${stat.slice(0, stat.lastIndexOf(')'))}`; // a process may execute another program
      if (!this.#isOfStory.has(key)) this.#isOfStory.set(key, this.#mentionsNamespace(pid));
      if (this.#isOfStory.get(key) === true)
        this.#seconds.set(key, (Number(fields[11]) + Number(fields[12])) / ticksPerSecond);
    }
  }

  #mentionsNamespace(pid: string): boolean {
    return (
      contentOf(`/proc/${pid}/cmdline`).includes(this.#namespace) ||
      contentOf(`/proc/${pid}/environ`).includes(this.#namespace)
    );
  }
}

/** The CPU seconds of this process and of its ended children, mostly kubectl. */
function ownSeconds(): number {
  const stat = contentOf('/proc/self/stat');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((total, field) => total + Number(field), 0) / ticksPerSecond;
}

/** A file of a process in /proc; empty if the process has ended or is not readable. */
function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
