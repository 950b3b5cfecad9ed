import { remove } from './api.ts';
import { type LogLine, type OperatorProcess, startOperatorProcess } from './operator-process.ts';
import type { StoryContext } from './story.ts';

/** The log messages at which the operator is killed: at the begin and at the end of a step. */
const stepMessages = ['taking step', 'step taken'] as const;

interface KillOptions {
  /** The log messages at which the operator may be killed. */
  readonly moments?: readonly string[];
  readonly flags?: readonly string[];
}

/**
 * An operator process that is killed once at the begin and once at the end of each kind of step, and restarted. With `always` it
 * is killed at every step, alternately at the begin and at the end, so that a repeated step can complete.
 */
export class KilledOperator {
  readonly killedAt = new Set<string>();
  /** Messages that a process logged while it was being killed. Such a step may be complete, and is then not repeated. */
  readonly escaped = new Set<string>();
  /** The number of kills. */
  count = 0;
  readonly #story: StoryContext;
  readonly #isKilledAt: (moment: string, step: string) => boolean;
  readonly #options: Required<KillOptions>;
  #process: OperatorProcess | undefined;
  #restarting: Promise<void> = Promise.resolve();

  constructor(
    context: StoryContext,
    kills: 'always' | ((step: string) => boolean) = () => true,
    { moments = stepMessages, flags = [] }: KillOptions = {},
  ) {
    this.#story = context;
    this.#options = { moments, flags };
    this.#isKilledAt =
      kills === 'always'
        ? (moment) => moment === moments[this.count % moments.length]
        : (moment, step) => kills(step) && !this.killedAt.has(momentOf(moment, step));
    this.#start();
  }

  /** The kinds of steps at which the operator was killed, or that it began or ended while it was being killed. */
  get kinds(): ReadonlySet<string> {
    return new Set([...this.killedAt, ...this.escaped].map((message) => message.split(': ')[1] ?? message));
  }

  async end(): Promise<void> {
    await this.#restarting;
    await this.#process?.kill();
    await this.#freeLeases();
  }

  #start(): void {
    const { namespace } = this.#story;
    const onLine = (line: LogLine): void =>
      started === this.#process ? this.#onLine(line) : this.#onLineWhileDying(line);
    const started = startOperatorProcess({ namespace, onLine }, this.#options.flags);
    this.#process = started;
  }

  #onLine({ msg, step = '' }: LogLine): void {
    const moment = this.#options.moments.find((each) => each === msg);
    if (this.#process === undefined || moment === undefined || !this.#isKilledAt(moment, String(step))) return;
    this.killedAt.add(momentOf(moment, String(step)));
    this.count += 1;
    const dying = this.#process;
    this.#process = undefined;
    this.#restarting = this.#restart(dying);
  }

  #onLineWhileDying({ msg, step = '' }: LogLine): void {
    const moment = [...stepMessages, ...this.#options.moments].find((each) => each === msg);
    if (moment !== undefined) this.escaped.add(momentOf(moment, String(step)));
  }

  /** Deletes the leases of the killed process, because waiting for their expiry takes time. */
  async #restart(dying: OperatorProcess): Promise<void> {
    await dying.kill();
    await this.#freeLeases();
    this.#start();
  }

  async #freeLeases(): Promise<void> {
    await Promise.all(leases.map((lease) => remove(this.#story, `lease/${lease}`)));
  }
}

const leases = ['etcd-operator', 'etcd-backup-operator', 'etcd-restore-operator'];

const momentOf = (moment: string, step: string): string => (step === '' ? moment : `${moment}: ${step}`);
