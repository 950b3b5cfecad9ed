import { setTimeout as sleep } from 'node:timers/promises';
import { check, type ProbeTarget } from './check.ts';
import { Pace, type ProbeKind } from './pace.ts';
import { afterResult, delayMillis, type Probe, type ProbeState, unprobed } from './probe-state.ts';

export interface Health {
  readonly started: boolean;
  readonly ready: boolean;
}

export interface ProberOptions extends ProbeTarget {
  /** Called when the container becomes ready or unready. */
  readonly onHealth: (health: Health) => void;
  /** Called once, when the container must be restarted. */
  readonly onRestartNeeded: (kind: ProbeKind, message: string) => void;
  /** Called for each failed probe that counts. */
  readonly onUnhealthy: (kind: ProbeKind, message: string) => void;
}

/** Runs the probes of one run of a container, until stopped. */
export class Prober {
  readonly #options: ProberOptions;
  readonly #stop = new AbortController();
  readonly #began = performance.now();
  #health: Health;

  constructor(options: ProberOptions) {
    this.#options = options;
    const { startupProbe, readinessProbe } = options.spec;
    const started = startupProbe === undefined;
    this.#health = { started, ready: started && readinessProbe === undefined };
  }

  get health(): Health {
    return this.#health;
  }

  start(): void {
    this.#run().catch(() => undefined);
  }

  stop(): void {
    this.#stop.abort();
  }

  async #run(): Promise<void> {
    const { startupProbe, readinessProbe, livenessProbe } = this.#options.spec;
    if (startupProbe !== undefined) await this.#probe('startup', startupProbe, () => this.#started());
    const kinds = { readiness: readinessProbe, liveness: livenessProbe } as const;
    await Promise.all(
      (['readiness', 'liveness'] as const).map(async (kind) => {
        const probe = kinds[kind];
        if (probe === undefined) return;
        await this.#probe(kind, probe, (state) => this.#onVerdict(kind, state));
      }),
    );
  }

  /** Runs one probe repeatedly; a startup probe ends with its first success. */
  async #probe(kind: ProbeKind, probe: Probe, onVerdict: (state: ProbeState) => void): Promise<void> {
    let state = unprobed;
    const pace = new Pace(kind, probe);
    await this.#wait(delayMillis(probe) - this.#age);
    while (!this.#stop.signal.aborted) {
      const before = state.verdict;
      const { result, message } = await check(probe, this.#options);
      if (this.#stop.signal.aborted) return;
      if (pace.counts(result, this.#age))
        state = this.#reportIfFailed(kind, afterResult(state, probe, result), message);
      if (mustRestart(kind, state)) return this.#requestRestart(kind, message);
      if (state.verdict !== before) onVerdict(state);
      if (isFinished(kind, state)) return;
      await this.#wait(pace.pauseMillis(this.#age, state));
    }
  }

  /** Milliseconds since the container started. */
  get #age(): number {
    return performance.now() - this.#began;
  }

  #reportIfFailed(kind: ProbeKind, state: ProbeState, message: string): ProbeState {
    if (state.inRow?.result === 'failure') this.#options.onUnhealthy(kind, message);
    return state;
  }

  #started(): void {
    this.#change({ started: true, ready: this.#options.spec.readinessProbe === undefined });
  }

  #onVerdict(kind: ProbeKind, { verdict }: ProbeState): void {
    if (kind === 'readiness') this.#change({ ...this.#health, ready: verdict === 'success' });
  }

  #requestRestart(kind: ProbeKind, message: string): void {
    this.stop();
    this.#options.onRestartNeeded(kind, message);
  }

  #change(health: Health): void {
    if (health.ready === this.#health.ready && health.started === this.#health.started) return;
    this.#health = health;
    this.#options.onHealth(health);
  }

  async #wait(millis: number): Promise<void> {
    if (millis > 0) await sleep(millis, undefined, { signal: this.#stop.signal, ref: false }).catch(() => undefined);
  }
}

const mustRestart = (kind: ProbeKind, { verdict }: ProbeState): boolean =>
  verdict === 'failure' && kind !== 'readiness';
const isFinished = (kind: ProbeKind, { verdict }: ProbeState): boolean => verdict === 'success' && kind === 'startup';
