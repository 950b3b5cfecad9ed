import { readdirSync, readFileSync } from 'node:fs';

/** How often processes are looked at: what lives for less is missed. */
const everyMillis = 2_000;
const ticksPerSecond = 100;

/**
 * Processor seconds of one story: of this test process and its children, and of the pods' processes, which are recognised by
 * the story's namespace in their command line or environment. The namespace's name is not used by anything else.
 */
export class StoryCpu {
  readonly #namespace: string;
  readonly #began = ownSeconds();
  readonly #isOurs = new Map<string, boolean>();
  readonly #seconds = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(namespace: string) {
    this.#namespace = namespace;
    this.#timer = setInterval(() => this.#look(), everyMillis);
    this.#timer.unref();
  }

  /** Ends the count. */
  total(): number {
    clearInterval(this.#timer);
    this.#look();
    const pods = [...this.#seconds.values()].reduce((total, seconds) => total + seconds, 0);
    return ownSeconds() - this.#began + pods;
  }

  #look(): void {
    for (const pid of readdirSync('/proc')) {
      if (!/^\d+$/.test(pid) || pid === String(process.pid)) continue;
      const stat = contentOf(`/proc/${pid}/stat`);
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(fields[1]) === process.pid) continue; // a child, which is counted when it has ended
      const key = `${pid} ${fields[19]} ${stat.slice(0, stat.lastIndexOf(')'))}`; // another program may take the place of one
      if (!this.#isOurs.has(key)) this.#isOurs.set(key, this.#mentionsNamespace(pid));
      if (this.#isOurs.get(key) === true)
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

/** This process and the children it has waited for, kubectl above all. */
function ownSeconds(): number {
  const stat = contentOf('/proc/self/stat');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((total, field) => total + Number(field), 0) / ticksPerSecond;
}

/** A file of a process that may end in this moment, or that is not ours to read. */
function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
