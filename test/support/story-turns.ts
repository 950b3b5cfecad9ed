import { appendFileSync, readFileSync } from 'node:fs';
import { isOnTheLab } from './place.ts';

/** The stories whose turn it is, as `make check` has chosen them. */
export interface Turns {
  /** Told whatever the time. */
  readonly core: readonly string[];
  /** Told until the deadline. */
  readonly others: readonly string[];
  /** In milliseconds since 1970. */
  readonly deadline: number;
  /** For how long the stories of each file are expected to take, on the wall. */
  readonly seconds: Readonly<Record<string, number>>;
}

/** One story on one bed, as it ended. */
export interface Ending {
  readonly title: string;
  readonly bed: 'lab' | 'cluster';
  /** `waited`: what it waited for did not come in time. */
  readonly outcome: 'passed' | 'failed' | 'waited';
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
}

let read: Turns | undefined;

/** Where nothing was chosen, every story has its turn. */
function turns(): Turns | undefined {
  const file = process.env['STORIES_TURNS'];
  if (file === undefined || file === '') return undefined;
  read ??= JSON.parse(readFileSync(file, 'utf8')) as Turns;
  return read;
}

/** Why a story is left out of this run, if it is. */
export function whyNotNow(title: string): string | undefined {
  const chosen = turns();
  if (chosen === undefined || chosen.core.includes(title) || chosen.others.includes(title)) return undefined;
  return 'not its turn';
}

export function isOutOfTime(title: string): boolean {
  const chosen = turns();
  return chosen !== undefined && !chosen.core.includes(title) && Date.now() > chosen.deadline;
}

interface Told extends Pick<Ending, 'title' | 'wallSeconds' | 'cpuSeconds'> {
  readonly failure: unknown;
}

/** Writes down how a story ended, for the run that has asked for it. */
export function record({ failure, ...told }: Told): void {
  const file = process.env['STORIES_RECORD'];
  if (file === undefined || file === '') return;
  const ending: Ending = { ...told, bed: isOnTheLab() ? 'lab' : 'cluster', outcome: outcomeOf(failure) };
  appendFileSync(file, `${JSON.stringify(ending)}\n`);
}

export function outcomeOf(failure: unknown): Ending['outcome'] {
  if (failure === undefined) return 'passed';
  return failure instanceof Error && failure.name === 'WaitTimeout' ? 'waited' : 'failed';
}
