/** A Kubernetes quantity such as 500m, 1.5Gi or 2e3. Not negative, with few enough digits for exact arithmetic. */
export const quantityForm =
  /^[+]?([0-9]{1,18}([.][0-9]{0,9})?|[.][0-9]{1,9})([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$/;

const decimalExponents: Readonly<Record<string, bigint>> = {
  n: -9n,
  u: -6n,
  m: -3n,
  '': 0n,
  k: 3n,
  M: 6n,
  G: 9n,
  T: 12n,
  P: 15n,
  E: 18n,
};
const binaryPowers: Readonly<Record<string, bigint>> = { Ki: 1n, Mi: 2n, Gi: 3n, Ti: 4n, Pi: 5n, Ei: 6n };

/** The negative exponent of the smallest valid quantity: nine decimals times 1e-99. */
const finest = 108n;

/** Converts a quantity to an integer in the smallest unit, for comparisons only. */
export function comparableQuantity(quantity: string | number): bigint {
  const [, whole = '0', fraction = '', suffix = ''] =
    /^[+]?([0-9]*)[.]?([0-9]*)([a-zA-Z].*)?$/.exec(String(quantity)) ?? [];
  return BigInt(`${whole}${fraction}` || '0') * factorOf(suffix, BigInt(fraction.length));
}

function factorOf(suffix: string, fractionDigits: bigint): bigint {
  const binary = binaryPowers[suffix];
  if (binary !== undefined) return 1024n ** binary * 10n ** (finest - fractionDigits);
  const exponent = decimalExponents[suffix] ?? BigInt(suffix.slice(1).replace('+', ''));
  return 10n ** (finest + exponent - fractionDigits);
}
