import { isAcknowledged, type Operation } from './operation.ts';
import type { FaultKind } from './plan.ts';

/** The question that a check answers, and the violations that it found. */
export interface CheckResult {
  readonly question: string;
  readonly violations: readonly string[];
}

/** Numbers of the requests of one kind. */
export interface Tally {
  readonly ok: number;
  readonly failed: number;
  readonly unknown: number;
}

/** What happened in a run. */
export interface RunFacts {
  readonly seed: number;
  readonly minutes: number;
  readonly place: string;
  /** From the first answer to the last request. */
  readonly seconds: number;
  readonly operations: Readonly<Record<string, Tally>>;
  /** The longest time between two answers to writes, in milliseconds. */
  readonly longestGap: number;
  readonly events: number;
  readonly sessions: number;
  /** How often each kind of fault had something to act on. */
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>;
  readonly changes: Readonly<Record<string, number>>;
  readonly verdicts: readonly CheckResult[];
}

/** A run with fewer answers proves nothing. On two idle cores, eight clients get forty or more in each second. */
const least = { perSecond: 5, ofEachKind: 20, faults: 3 } as const;

/** Why a run is neither green nor red: it did too little. */
export function invalidity({ operations, seconds, faults }: RunFacts): readonly string[] {
  const tallies = Object.entries(operations);
  const rate = tallies.reduce((sum, [, { ok }]) => sum + ok, 0) / Math.max(seconds, 1);
  const caused = Object.values(faults).reduce((sum, count) => sum + count, 0);
  return [
    ...(rate < least.perSecond ? [`${rate.toFixed(1)} answers a second; at least ${least.perSecond} are needed`] : []),
    ...tallies.flatMap(([kind, { ok }]) =>
      ok < least.ofEachKind ? [`${ok} answers to ${kind}; at least ${least.ofEachKind} are needed`] : [],
    ),
    ...(caused < least.faults ? [`${caused} faults; at least ${least.faults} are needed`] : []),
  ];
}

export const violationsIn = ({ verdicts }: Pick<RunFacts, 'verdicts'>): readonly string[] =>
  verdicts.flatMap(({ question, violations }) => violations.map((violation) => `${question} ${violation}`));

const kinds = ['put', 'get', 'delete', 'cas'] as const;

export function tallyOperations(operations: readonly Operation[]): Readonly<Record<string, Tally>> {
  const count = (kind: string, outcome: string): number =>
    operations.filter(({ request, answer }) => request.kind === kind && answer.outcome === outcome).length;
  return Object.fromEntries(
    kinds.map((kind) => [
      kind,
      { ok: count(kind, 'ok'), failed: count(kind, 'failed'), unknown: count(kind, 'unknown') },
    ]),
  );
}

/** The times of the first and last answer, and the longest time between two answers to writes, in milliseconds. */
export function timesOf(operations: readonly Operation[]): { readonly seconds: number; readonly longestGap: number } {
  const answers = operations.filter(isAcknowledged).toSorted((a, b) => a.return - b.return);
  const writes = answers.filter(({ request }) => request.kind !== 'get').map((operation) => operation.return);
  const gaps = writes.slice(1).map((time, index) => time - (writes[index] ?? time));
  const [first, last] = [answers[0]?.return ?? 0, answers.at(-1)?.return ?? 0];
  return { seconds: (last - first) / 1e6, longestGap: Math.round(Math.max(0, ...gaps) / 1000) };
}
