import type { Clock } from './clock.ts';
import { type Again, mostSpread } from './outcome.ts';

/** For how long a wait is looked at as often as its pass asks for. A step that is repeated costs a write: it is not. */
const promptSeconds = { wait: 10, step: 0 } as const;
/** After that, a wait is looked at again after this share of its age, so what ends it is seen no later than that. */
const shareOfAge = 0.2;
const mostSeconds = 30;

/** A wait that was not met for this long has ended. Two that take turns are the same two waits all the time. */
const overMillis = 90_000;

interface Wait {
  readonly is: 'wait' | 'step';
  readonly since: number;
  readonly metAt: number;
}

/**
 * Says how soon a key is visited again. A wait begins to be looked at often, and is looked at less often with its age. Another
 * wait, a step, or an event of the key's objects begins anew. A step that is taken again without an event has changed nothing,
 * as where a webhook sets a label back: it becomes rarer as a wait does.
 */
export class Patience<Key> {
  readonly #clock: Pick<Clock, 'monotonic' | 'random'>;
  /** What each key waits for, since the last step or event. */
  readonly #waits = new Map<Key, ReadonlyMap<string, Wait>>();

  constructor(clock: Pick<Clock, 'monotonic' | 'random'>) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#waits.size;
  }

  secondsUntilVisit(key: Key, { afterSeconds, waitsFor, acted, atMostSeconds, isRough, isUnseen }: Again): number {
    if (isUnseen === true) return afterSeconds;
    if (acted !== undefined) return this.#spread(Math.max(afterSeconds, this.#repeated(key, acted)));
    if (waitsFor !== undefined) {
      const seconds = this.#spread(Math.max(afterSeconds, this.#grown(key, { is: 'wait', name: waitsFor })));
      return Math.min(seconds, atMostSeconds ?? seconds);
    }
    this.#waits.delete(key);
    return isRough === true ? afterSeconds * (1 + mostSpread * (2 * this.#clock.random() - 1)) : afterSeconds;
  }

  /** Something happened to the key: a wait that goes on is looked at often again. */
  restart(key: Key): void {
    this.#waits.delete(key);
  }

  /** Steps that take turns are all repeated. Waits begin anew after the first of them only. */
  #repeated(key: Key, name: string): number {
    const isKnown = this.#waits.get(key)?.get(`step: ${name}`) !== undefined;
    const steps = [...(this.#waits.get(key) ?? [])].filter(([, wait]) => isKnown || wait.is === 'step');
    this.#waits.set(key, new Map(steps));
    return this.#grown(key, { is: 'step', name: `step: ${name}` });
  }

  #grown(key: Key, { is, name }: Pick<Wait, 'is'> & { readonly name: string }): number {
    const now = this.#clock.monotonic();
    const going = [...(this.#waits.get(key) ?? [])].filter(([, { metAt }]) => now - metAt < overMillis);
    const waits = new Map(going);
    const { since } = waits.get(name) ?? { since: now };
    this.#waits.set(key, waits.set(name, { is, since, metAt: now }));
    return Math.min(mostSeconds, ((now - since) / 1000 - promptSeconds[is]) * shareOfAge);
  }

  /** Waits that began together are not to be looked at together for ever. Those that are short end together anyway. */
  #spread(seconds: number): number {
    return seconds < 1 ? seconds : seconds * (0.75 + this.#clock.random() * 0.25);
  }
}
