const factors: Readonly<Record<string, number>> = {
  '': 1,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

/** Parses a quantity such as `128Mi`, `1e9` or `500m`. */
export function parseQuantity(quantity: string): number {
  const [, digits = '0', unit = ''] = /^([0-9.]+(?:[eE][+-]?\d+)?)([A-Za-z]*)$/.exec(quantity.trim()) ?? [];
  return Number(digits) * (factors[unit] ?? 1);
}
