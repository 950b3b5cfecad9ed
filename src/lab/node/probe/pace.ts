import { type Probe, type ProbeState, periodMillis } from './probe-state.ts';

export type ProbeKind = 'startup' | 'readiness' | 'liveness';

/** While the first answer is awaited, we ask more often than a probe says: nobody likes to wait for a whole period. */
const impatientMillis = 1_000;
/** And more often still while the container is young, where asking starts no program. */
const eagerMillis = 200;
const youngMillis = 10_000;

/** How often a probe looks. Those who fail are not counted faster than the probe says, however often it looks. */
export class Pace {
  readonly #kind: ProbeKind;
  readonly #probe: Probe;
  #dueAt = 0;

  constructor(kind: ProbeKind, probe: Probe) {
    this.#kind = kind;
    this.#probe = probe;
  }

  /** Whether what was found at this age of the container is taken into account; to be asked once for each look. */
  counts(result: 'success' | 'failure', ageMillis: number): boolean {
    if (ageMillis < this.#dueAt) return result === 'success';
    this.#dueAt = ageMillis + periodMillis(this.#probe);
    return true;
  }

  pauseMillis(ageMillis: number, { verdict }: ProbeState): number {
    const period = periodMillis(this.#probe);
    if (this.#kind === 'liveness' || verdict === 'success') return period;
    const isEager = ageMillis < youngMillis && this.#probe.exec === undefined;
    return Math.min(period, isEager ? eagerMillis : impatientMillis);
  }
}
