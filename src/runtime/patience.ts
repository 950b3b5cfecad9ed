import type { Clock } from './clock.ts';
import type { Again } from './outcome.ts';

/** For how long a wait is looked at as often as its pass asks for. */
const promptSeconds = 10;
/** After that, a wait is looked at again after this share of its age, so what ends it is seen no later than that. */
const shareOfAge = 0.2;
const mostSeconds = 30;

interface Wait {
  readonly for: string;
  readonly since: number;
}

/**
 * Says how soon a key is visited again. A wait begins to be looked at often, and is looked at less often with its age. Another
 * wait, a step, or an event of the key's objects begins anew.
 */
export class Patience<Key> {
  readonly #clock: Pick<Clock, 'monotonic' | 'random'>;
  readonly #waits = new Map<Key, Wait>();

  constructor(clock: Pick<Clock, 'monotonic' | 'random'>) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#waits.size;
  }

  secondsUntilVisit(key: Key, { afterSeconds, waitsFor, isRough, isUnseen }: Again): number {
    if (isUnseen === true) return afterSeconds;
    if (waitsFor !== undefined) return this.#spread(Math.max(afterSeconds, this.#grown(key, waitsFor)));
    this.#waits.delete(key);
    return isRough === true ? afterSeconds * (0.8 + this.#clock.random() * 0.4) : afterSeconds;
  }

  /** Something happened to the key: a wait that goes on is looked at often again. */
  restart(key: Key): void {
    this.#waits.delete(key);
  }

  #grown(key: Key, waitsFor: string): number {
    const now = this.#clock.monotonic();
    const known = this.#waits.get(key);
    const since = known?.for === waitsFor ? known.since : now;
    this.#waits.set(key, { for: waitsFor, since });
    return Math.min(mostSeconds, ((now - since) / 1000 - promptSeconds) * shareOfAge);
  }

  /** Waits that began together are not to be looked at together for ever. Those that are short end together anyway. */
  #spread(seconds: number): number {
    return seconds < 1 ? seconds : seconds * (0.75 + this.#clock.random() * 0.25);
  }
}
