import type { Trace } from './trace.ts';

/** The invariants of the operator that were broken. A life ends with the first. */
export class Violations {
  readonly found: string[] = [];
  readonly #trace: Trace;

  constructor(trace: Trace) {
    this.#trace = trace;
  }

  /** `invariant` is its number in the reliability specification, or a word for a promise without a number. */
  add(invariant: string, message: string): void {
    this.found.push(`${invariant}: ${message}`);
    this.#trace.add('ORACLE', () => `${invariant}: ${message}`);
  }
}
