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
  /** All moments that it reached, also those between the decision to kill it and its end. */
  readonly moments = new Set<string>();
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

  async end(): Promise<void> {
    await this.#reviving;
    await this.#process?.kill();
    await this.#freeLeases();
  }

  #start(): void {
    const { namespace } = this.#story;
    this.#process = startOperatorProcess({ namespace, onLine: (line) => this.#hear(line) }, this.#life.flags);
  }

  #hear({ msg, step = '' }: LogLine): void {
    const moment = this.#life.moments.find((each) => each === msg);
    if (moment === undefined) return;
    this.moments.add(deathAt(moment, String(step)));
    if (this.#process === undefined || !this.#isItsTime(moment, String(step))) return;
    this.deaths.add(deathAt(moment, String(step)));
    this.count += 1;
    const dying = this.#process;
    this.#process = undefined;
    this.#reviving = this.#revive(dying);
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
