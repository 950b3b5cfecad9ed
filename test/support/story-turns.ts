import { appendFileSync, readFileSync } from 'node:fs';
import { isOnTheLab } from './place.ts';

/** The stories that `make check` has chosen for this run. */
export interface Turns {
  /** Run even after the deadline. */
  readonly core: readonly string[];
  /** Run only if they start before the deadline. */
  readonly others: readonly string[];
  /** Milliseconds since 1970. */
  readonly deadline: number;
  /** The expected wall-clock seconds of each file. */
  readonly seconds: Readonly<Record<string, number>>;
}

/** The result of one story on one bed. */
export interface Ending {
  readonly title: string;
  readonly bed: 'lab' | 'cluster';
  /** `waited`: a wait of the story timed out. */
  readonly outcome: 'passed' | 'failed' | 'waited';
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
}

let read: Turns | undefined;

/** The chosen stories; undefined if every story runs. */
function turns(): Turns | undefined {
  const file = process.env['STORIES_TURNS'];
  if (file === undefined || file === '') return undefined;
  read ??= JSON.parse(readFileSync(file, 'utf8')) as Turns;
  return read;
}

/** The reason for which a story is left out of this run; undefined if it runs. */
export function skipReasonNow(title: string): string | undefined {
  const chosen = turns();
  if (chosen === undefined || chosen.core.includes(title) || chosen.others.includes(title)) return undefined;
  return 'not chosen for this run';
}

export function isOutOfTime(title: string): boolean {
  const chosen = turns();
  return chosen !== undefined && !chosen.core.includes(title) && Date.now() > chosen.deadline;
}

interface StoryEnd extends Pick<Ending, 'title' | 'wallSeconds' | 'cpuSeconds'> {
  readonly failure: unknown;
}

/** Appends the result of a story to the file STORIES_RECORD, if set. */
export function record({ failure, ...measured }: StoryEnd): void {
  const file = process.env['STORIES_RECORD'];
  if (file === undefined || file === '') return;
  const ending: Ending = { ...measured, bed: isOnTheLab() ? 'lab' : 'cluster', outcome: outcomeOf(failure) };
  appendFileSync(file, `${JSON.stringify(ending)}\n`);
}

export function outcomeOf(failure: unknown): Ending['outcome'] {
  if (failure === undefined) return 'passed';
  return failure instanceof Error && failure.name === 'WaitTimeout' ? 'waited' : 'failed';
}
