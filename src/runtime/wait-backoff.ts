import type { Clock } from './clock.ts';
import { mostJitter, type Requeue } from './outcome.ts';

/** A younger wait is requeued as often as its pass asks for. A repeated step costs a write, so it backs off at once. */
const promptSeconds = { wait: 10, step: 0 } as const;
/** An older wait is requeued after this share of its age. */
const shareOfAge = 0.2;
const mostSeconds = 30;

/** A wait that no pass reported for this long has ended. Two alternating waits both keep their age. */
const expiryMillis = 90_000;

interface Wait {
  readonly is: 'wait' | 'step';
  readonly since: number;
  readonly reportedAt: number;
}

/**
 * Computes when a waiting key is requeued. A new wait is requeued often, an old wait rarely. Another wait, a step, or
 * an event of the key's objects resets the backoff.
 *
 * A step repeated without an event has changed nothing, for example because a webhook reverts a label. It backs off
 * like a wait.
 */
export class WaitBackoff<Key> {
  readonly #clock: Pick<Clock, 'monotonic' | 'random'>;
  /** The waits of each key since its last step or event. */
  readonly #waits = new Map<Key, ReadonlyMap<string, Wait>>();

  constructor(clock: Pick<Clock, 'monotonic' | 'random'>) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#waits.size;
  }

  secondsUntilRequeue(
    key: Key,
    { afterSeconds, waitsFor, afterStep, atMostSeconds, isApproximate, isCacheBehind }: Requeue,
  ): number {
    if (isCacheBehind === true) return afterSeconds;
    if (afterStep !== undefined) return this.#jitter(Math.max(afterSeconds, this.#stepDelay(key, afterStep)));
    if (waitsFor !== undefined) {
      const seconds = this.#jitter(Math.max(afterSeconds, this.#delayFor(key, { is: 'wait', name: waitsFor })));
      return Math.min(seconds, atMostSeconds ?? seconds);
    }
    this.#waits.delete(key);
    return isApproximate === true ? afterSeconds * (1 + mostJitter * (2 * this.#clock.random() - 1)) : afterSeconds;
  }

  /** Resets the backoff of a key after an event. */
  restart(key: Key): void {
    this.#waits.delete(key);
  }

  /** Alternating steps all count as repeated. Only the first of them resets the waits. */
  #stepDelay(key: Key, name: string): number {
    const isKnown = this.#waits.get(key)?.get(`step: ${name}`) !== undefined;
    const steps = [...(this.#waits.get(key) ?? [])].filter(([, wait]) => isKnown || wait.is === 'step');
    this.#waits.set(key, new Map(steps));
    return this.#delayFor(key, { is: 'step', name: `step: ${name}` });
  }

  #delayFor(key: Key, { is, name }: Pick<Wait, 'is'> & { readonly name: string }): number {
    const now = this.#clock.monotonic();
    const active = [...(this.#waits.get(key) ?? [])].filter(([, { reportedAt }]) => now - reportedAt < expiryMillis);
    const waits = new Map(active);
    const { since } = waits.get(name) ?? { since: now };
    this.#waits.set(key, waits.set(name, { is, since, reportedAt: now }));
    return Math.min(mostSeconds, ((now - since) / 1000 - promptSeconds[is]) * shareOfAge);
  }

  /** Adds jitter, so that keys that began to wait together drift apart. Delays below 1 s stay exact. */
  #jitter(seconds: number): number {
    return seconds < 1 ? seconds : seconds * (0.75 + this.#clock.random() * 0.25);
  }
}
