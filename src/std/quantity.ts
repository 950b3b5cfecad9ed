/** A Kubernetes quantity such as `500m`, `1.5Gi` or `2e3`, in billionths: Kubernetes has no finer unit. */
export interface Quantity {
  readonly nanos: bigint;
  /** The unit family in which it was written and is shown. */
  readonly form: 'binary' | 'decimal' | 'exponent';
}

const decimals: Readonly<Record<string, bigint>> = {
  n: 1n,
  u: 1_000n,
  m: 1_000_000n,
  '': 10n ** 9n,
  k: 10n ** 12n,
  M: 10n ** 15n,
  G: 10n ** 18n,
  T: 10n ** 21n,
  P: 10n ** 24n,
  E: 10n ** 27n,
};
const binaries: readonly string[] = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const written =
  /^(?<sign>[+-]?)(?<whole>[0-9]*)(?:\.(?<fraction>[0-9]*))?(?:(?<exponent>[eE])(?<power>[+-]?[0-9]+)|(?<suffix>[KMGTPE]i|[numkMGTPE]?))$/;

/** Larger powers of ten cost time, and compare as this one does. */
const largestPower = 999;

const nothing = { sign: '', whole: '', fraction: '', exponent: '', power: '0', suffix: '' };
const given = (groups: Readonly<Record<string, string | undefined>>): Partial<typeof nothing> =>
  Object.fromEntries(Object.entries(groups).filter(([, part]) => part !== undefined));

/** Parses a quantity; undefined if the text is none. */
export function parseQuantity(text: string): Quantity | undefined {
  const found = written.exec(text);
  if (found === null) return undefined;
  const { sign, whole, fraction, exponent, power, suffix } = { ...nothing, ...given(found.groups ?? {}) };
  if (whole + fraction === '') return undefined;
  const raised = Math.max(-largestPower, Math.min(Number(power), largestPower));
  const digits = BigInt(whole + fraction) * unitOf(suffix) * 10n ** BigInt(Math.max(0, raised));
  const divisor = 10n ** BigInt(fraction.length + Math.max(0, -raised));
  const nanos = (digits + divisor - 1n) / divisor; // rounded up, as Kubernetes does
  return { nanos: sign === '-' ? -nanos : nanos, form: formOf(exponent, suffix) };
}

/** The amount of a quantity in billionths, for comparisons; zero if it is not valid. */
export const nanosOf = (value: unknown): bigint =>
  (typeof value === 'string' || typeof value === 'number' ? parseQuantity(String(value))?.nanos : undefined) ?? 0n;

function formOf(exponent: string, suffix: string): Quantity['form'] {
  if (exponent !== '') return 'exponent';
  return suffix.endsWith('i') ? 'binary' : 'decimal';
}

const unitOf = (suffix: string): bigint =>
  suffix.endsWith('i') ? 10n ** 9n * 1024n ** BigInt(binaries.indexOf(suffix) + 1) : (decimals[suffix] ?? 0n);

/** The canonical form of a quantity: in the largest unit without a fraction. */
export function formatQuantity({ nanos, form }: Quantity): string {
  if (nanos === 0n) return '0';
  const units = form === 'binary' && nanos % 10n ** 9n === 0n ? binaryUnits : decimalUnits;
  const [suffix, unit] = units.find(([, size]) => nanos % size === 0n) ?? ['n', 1n];
  return `${nanos / unit}${form === 'exponent' ? exponentOf(suffix) : suffix}`;
}

type Unit = readonly [string, bigint];
const decimalUnits: readonly Unit[] = Object.entries(decimals).toReversed();
const binaryUnits: readonly Unit[] = [
  ...binaries.toReversed().map((suffix): Unit => [suffix, unitOf(suffix)]),
  ['', 10n ** 9n],
];
const exponents: Readonly<Record<string, string>> = {
  n: 'e-9',
  u: 'e-6',
  m: 'e-3',
  '': '',
  k: 'e3',
  M: 'e6',
  G: 'e9',
  T: 'e12',
  P: 'e15',
  E: 'e18',
};
const exponentOf = (suffix: string): string => exponents[suffix] ?? '';
