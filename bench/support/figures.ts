/** The seconds that the operator and the work by hand took, in pairs. */
export interface Race {
  readonly question: string;
  readonly ours: readonly number[];
  readonly byHand: readonly number[];
  /** The highest allowed ratio of ours to by hand. */
  readonly limit: number;
}

/** An amount with an upper limit. */
export interface Amount {
  readonly question: string;
  readonly amount: number;
  readonly unit: string;
  readonly limit: number;
}

export type Figure = Race | Amount;

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

export const ratioOf = ({ ours, byHand }: Race): number => median(ours) / median(byHand);

const isRace = (figure: Figure): figure is Race => 'byHand' in figure;

/** True if a figure is within its limit. An unknown figure is not. */
export const isWithinLimit = (figure: Figure): boolean =>
  (isRace(figure) ? ratioOf(figure) : figure.amount) <= figure.limit;

/** One line per figure. Ratios count, because seconds depend on the machine. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = [['', 'ours', 'by hand', 'ratio', 'limit', ''], ...figures.map(rowOf)];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, i) => pad(cell, widths[i] ?? 0, i))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const pad = (cell: string, width: number, column: number): string =>
  column === 0 ? cell.padEnd(width) : cell.padStart(width);

function rowOf(figure: Figure): readonly string[] {
  const flag = isWithinLimit(figure) ? '' : 'OVER';
  if (!isRace(figure)) return [figure.question, `${figure.amount} ${figure.unit}`, '', '', `${figure.limit}`, flag];
  const { question, ours, byHand, limit } = figure;
  return [question, inSeconds(ours), inSeconds(byHand), ratioOf(figure).toFixed(2), limit.toFixed(2), flag];
}

const inSeconds = (numbers: readonly number[]): string => `${median(numbers).toFixed(2)} s`;

/** Every single measurement. */
export const detailsOf = (figure: Figure): string =>
  isRace(figure)
    ? `${figure.question}\n  ours     ${all(figure.ours)}\n  by hand  ${all(figure.byHand)}`
    : `${figure.question}: ${figure.amount} ${figure.unit}`;

const all = (numbers: readonly number[]): string => numbers.map((each) => each.toFixed(2)).join(' ');
