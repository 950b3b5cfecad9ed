import { remove } from './api.ts';
import { type LogLine, type OperatorProcess, startOperatorProcess } from './own-process.ts';
import type { Story } from './story.ts';

/** The moments at which it dies: when it begins a step, and when it has taken one. */
const ofSteps = ['taking step', 'step taken'] as const;

interface Life {
  /** What it says when it may die. */
  readonly moments?: readonly string[];
  readonly flags?: readonly string[];
}

/**
 * An operator that is killed at each kind of step, when it begins it and, if it comes to that, when it has taken it. Where it
 * dies `always`, it is killed at every step, in turn when it begins one and when it has taken one: what it begins again after
 * its death it may finish.
 */
export class Mortal {
  readonly deaths = new Set<string>();
  /** Moments of steps that a process reached while it was being killed: such a step may be over, and then does not begin again. */
  readonly escaped = new Set<string>();
  /** How often it died. */
  count = 0;
  readonly #story: Story;
  readonly #isItsTime: (moment: string, step: string) => boolean;
  readonly #life: Required<Life>;
  #process: OperatorProcess | undefined;
  #reviving: Promise<void> = Promise.resolve();

  constructor(
    told: Story,
    dies: 'always' | ((step: string) => boolean) = () => true,
    { moments = ofSteps, flags = [] }: Life = {},
  ) {
    this.#story = told;
    this.#life = { moments, flags };
    this.#isItsTime =
      dies === 'always'
        ? (moment) => moment === moments[this.count % moments.length]
        : (moment, step) => dies(step) && !this.deaths.has(deathAt(moment, step));
    this.#start();
  }

  /** The kinds of steps at which it died, or which it began or ended while it was being killed. */
  get kinds(): ReadonlySet<string> {
    return new Set([...this.deaths, ...this.escaped].map((death) => death.split(': ')[1] ?? death));
  }

  async end(): Promise<void> {
    await this.#reviving;
    await this.#process?.kill();
    await this.#freeLeases();
  }

  #start(): void {
    const { namespace } = this.#story;
    const onLine = (line: LogLine): void => (started === this.#process ? this.#hear(line) : this.#hearDying(line));
    const started = startOperatorProcess({ namespace, onLine }, this.#life.flags);
    this.#process = started;
  }

  #hear({ msg, step = '' }: LogLine): void {
    const moment = this.#life.moments.find((each) => each === msg);
    if (this.#process === undefined || moment === undefined || !this.#isItsTime(moment, String(step))) return;
    this.deaths.add(deathAt(moment, String(step)));
    this.count += 1;
    const dying = this.#process;
    this.#process = undefined;
    this.#reviving = this.#revive(dying);
  }

  #hearDying({ msg, step = '' }: LogLine): void {
    const moment = [...ofSteps, ...this.#life.moments].find((each) => each === msg);
    if (moment !== undefined) this.escaped.add(deathAt(moment, String(step)));
  }

  /** The leases of the dead are removed: that others wait for them is told elsewhere, and takes its time. */
  async #revive(dying: OperatorProcess): Promise<void> {
    await dying.kill();
    await this.#freeLeases();
    this.#start();
  }

  async #freeLeases(): Promise<void> {
    await Promise.all(leases.map((lease) => remove(this.#story, `lease/${lease}`)));
  }
}

const leases = ['etcd-operator', 'etcd-backup-operator', 'etcd-restore-operator'];

const deathAt = (moment: string, step: string): string => (step === '' ? moment : `${moment}: ${step}`);
