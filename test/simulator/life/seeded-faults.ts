import type { FaultSource, RequestFate, RequestFault, WatchFate } from '../api/faults.ts';
import type { Random } from '../world/random.ts';

/** How often each kind of fault happens in one life. Most lives have a few kinds only. */
export interface FaultRates {
  /** The probability that a request fails, and that the operator dies at it. */
  readonly request: number;
  readonly crash: number;
  readonly etcd: number;
  /** The probability that a request is delayed before it is sent. */
  readonly slowSend: number;
  readonly watchEnds: number;
  readonly compacted: number;
  /** The longest delay of watch events, in milliseconds; each kind has a delay of its own. */
  readonly lagMillis: number;
}

export const noFaults: FaultRates = {
  request: 0,
  crash: 0,
  etcd: 0,
  slowSend: 0,
  watchEnds: 0,
  compacted: 0,
  lagMillis: 0,
};

/** Draws the rates of a life. */
export function drawRates(random: Random): FaultRates {
  const maybe = (probability: number, least: number, most: number): number =>
    random.chance(probability) ? random.between(least, most) : 0;
  return {
    request: maybe(0.5, 0.005, 0.1),
    crash: maybe(0.4, 0.002, 0.03),
    etcd: maybe(0.4, 0.005, 0.1),
    slowSend: maybe(0.3, 0.01, 0.1),
    watchEnds: maybe(0.4, 0.005, 0.05),
    compacted: maybe(0.3, 0.1, 0.5),
    lagMillis: maybe(0.5, 500, 30_000),
  };
}

const reads = new Set(['get', 'list', 'read']);
const statuses = [409, 429, 500, 503] as const;

/** Faults that a seed decides. They stop when the rates are set to none. */
export class SeededFaults implements FaultSource {
  rates: FaultRates;
  readonly #random: Random;
  /** The lag of each kind, drawn anew from time to time. */
  readonly #lags = new Map<string, number>();

  constructor(random: Random, rates: FaultRates) {
    this.#random = random;
    this.rates = rates;
  }

  /** All caches catch up. */
  stop(): void {
    this.rates = noFaults;
    this.#lags.clear();
  }

  ofRequest(verb: string, plural: string): RequestFate {
    const random = this.#random;
    const { slowSend } = this.rates;
    return {
      sendMillis: slowSend > 0 && random.chance(slowSend) ? random.between(10, 20_000) : 0,
      thereMillis: random.between(0.2, 4),
      backMillis: random.between(0.2, 4),
      fault: this.#faultOf(verb, plural),
    };
  }

  #faultOf(verb: string, plural: string): RequestFault | undefined {
    const random = this.#random;
    const { crash, request, etcd } = this.rates;
    const mayCrash = crash > 0 && !reads.has(verb) && plural !== 'leases';
    if (mayCrash && random.chance(crash)) return { is: 'crash', isDone: random.chance(0.5) };
    const rate = plural === 'etcd' ? etcd : request;
    return rate > 0 && random.chance(rate) ? this.#failure() : undefined;
  }

  #failure(): RequestFault {
    const random = this.#random;
    const isDone = random.chance(0.5);
    const kind = random.next();
    if (kind < 0.4) return { is: 'refused', status: random.pick(statuses) };
    return kind < 0.7 ? { is: 'lost', isDone } : { is: 'broken', isDone };
  }

  ofWatchEvent(plural: string): WatchFate {
    const random = this.#random;
    const { watchEnds } = this.rates;
    if (watchEnds > 0 && random.chance(watchEnds))
      return { is: 'ended', by: random.pick(['server', 'broken', 'compacted'] as const) };
    return { is: 'late', millis: random.between(0.5, 10) + this.#lagOf(plural) };
  }

  isCompacted(): boolean {
    return this.rates.compacted > 0 && this.#random.chance(this.rates.compacted);
  }

  #lagOf(plural: string): number {
    const random = this.#random;
    const { lagMillis } = this.rates;
    if (lagMillis === 0) return 0;
    if (!this.#lags.has(plural) || random.chance(0.1))
      this.#lags.set(plural, random.chance(0.5) ? 0 : random.between(0, lagMillis));
    return this.#lags.get(plural) ?? 0;
  }
}
