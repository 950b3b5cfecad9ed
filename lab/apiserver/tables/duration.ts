const units = { s: 1, m: 60, h: 3600, d: 86_400, y: 365 * 86_400 } as const;
type Unit = keyof typeof units;

/** The units that are shown below each limit in seconds; the second is omitted if it is zero. */
const scale: readonly (readonly [number, Unit, Unit?])[] = [
  [2 * units.m, 's'],
  [10 * units.m, 'm', 's'],
  [3 * units.h, 'm'],
  [8 * units.h, 'h', 'm'],
  [2 * units.d, 'h'],
  [8 * units.d, 'd', 'h'],
  [2 * units.y, 'd'],
  [8 * units.y, 'y', 'd'],
  [Number.POSITIVE_INFINITY, 'y'],
];

/** Formats a duration in one or two units, as kubectl does. */
export function shortDuration(seconds: number): string {
  if (seconds < -1) return '<invalid>';
  const whole = Math.max(0, Math.floor(seconds));
  const [, unit, smaller] = scale.find(([below]) => whole < below) ?? [0, 'y' as const];
  const count = Math.floor(whole / units[unit]);
  const rest = smaller === undefined ? 0 : Math.floor((whole % units[unit]) / units[smaller]);
  return `${count}${unit}${rest > 0 && smaller !== undefined ? `${rest}${smaller}` : ''}`;
}

/** The age of a timestamp. */
export function ageOf(time: unknown): string {
  if (typeof time !== 'string' || time === '') return '<unknown>';
  return shortDuration((Date.now() - Date.parse(time)) / 1000);
}
