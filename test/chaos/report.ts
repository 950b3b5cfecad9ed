import { invalidity, type RunFacts, violationsIn } from './verdicts.ts';

interface Origin {
  readonly commit: string;
  /** As 2026-01-31. */
  readonly date: string;
}

/** `invalid` is neither: the run did too little to prove anything. A violation counts all the same. */
export function resultOf(run: RunFacts): 'passed' | 'failed' | 'invalid' {
  if (violationsIn(run).length > 0) return 'failed';
  return invalidity(run).length > 0 ? 'invalid' : 'passed';
}

/** The page docs/development/chaos.md. */
export function reportOf(run: RunFacts, { commit, date }: Origin): string {
  const answers = Object.values(run.operations).reduce((sum, { ok }) => sum + ok, 0);
  return [
    '# The last chaos run',
    '',
    '`make chaos` runs clients, faults and changes together, checks everything that was recorded, and writes this page.',
    '',
    `- Result: ${resultOf(run)}`,
    `- Repeat: \`make chaos MINUTES=${run.minutes} SEED=${run.seed}\`, on ${run.place}`,
    `- Commit: ${commit}`,
    `- Date: ${date}`,
    `- Length: ${(run.seconds / 60).toFixed(1)} minutes from the first answer to the last, ${(answers / Math.max(run.seconds, 1)).toFixed(0)} answers a second`,
    `- Longest time between two acknowledged writes: ${(run.longestGap / 1000).toFixed(1)} s`,
    `- Watches: ${run.events} events in ${run.sessions} sessions`,
    '',
    ...verdictsOf(run),
    ...table(['request', 'ok', 'certainly not applied', 'unknown'], rowsOfOperations(run)),
    ...table(['fault', 'times'], rowsOf(run.faults)),
    ...table(['change', 'times'], rowsOf(run.changes)),
  ].join('\n');
}

type Row = readonly (string | number)[];

function verdictsOf(run: RunFacts): readonly string[] {
  const rows = run.verdicts.map(({ question, violations }) => [
    question,
    violations.length === 0 ? 'yes' : `**no**: ${violations.length} violations`,
  ]);
  const details = [...violationsIn(run), ...invalidity(run)].slice(0, 50).map((line) => `- ${line}`);
  return [...table(['question', 'answer'], rows), ...details, ...(details.length > 0 ? [''] : [])];
}

const rowsOfOperations = ({ operations }: RunFacts): readonly Row[] =>
  Object.entries(operations).map(([kind, { ok, failed, unknown }]) => [kind, ok, failed, unknown]);

const rowsOf = (counts: Readonly<Record<string, number>>): readonly Row[] =>
  Object.entries(counts).toSorted(([a], [b]) => a.localeCompare(b));

function table(head: readonly string[], rows: readonly Row[]): readonly string[] {
  const line = (cells: Row): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line), ''];
}
