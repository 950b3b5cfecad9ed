import { type Probe, type ProbeState, periodMillis } from './probe-state.ts';

export type ProbeKind = 'startup' | 'readiness' | 'liveness';

/** The longest wait between probes before the first success. A probe's whole period would slow down every start. */
const unsuccessfulMillis = 1_000;
/** The wait between probes of a young container, except for exec probes. */
const youngIntervalMillis = 200;
const youngMillis = 10_000;

/** Sets how often a probe runs. Failures are never counted more often than once a period. */
export class Pace {
  readonly #kind: ProbeKind;
  readonly #probe: Probe;
  #dueAt = 0;

  constructor(kind: ProbeKind, probe: Probe) {
    this.#kind = kind;
    this.#probe = probe;
  }

  /** True if a result at this age of the container counts. Call once for each result. */
  counts(result: 'success' | 'failure', ageMillis: number): boolean {
    if (ageMillis < this.#dueAt) return result === 'success';
    this.#dueAt = ageMillis + periodMillis(this.#probe);
    return true;
  }

  pauseMillis(ageMillis: number, { verdict }: ProbeState): number {
    const period = periodMillis(this.#probe);
    if (this.#kind === 'liveness' || verdict === 'success') return period;
    const isYoung = ageMillis < youngMillis && this.#probe.exec === undefined;
    return Math.min(period, isYoung ? youngIntervalMillis : unsuccessfulMillis);
  }
}
