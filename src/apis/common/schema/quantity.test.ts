import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparableQuantity, quantityForm } from './quantity.ts';

describe('quantities', () => {
  it.each(['0', '1', '+1', '1.', '.5', '1.5Gi', '500m', '1e3', '1E-3', '10Ei', '100n'])(
    '%s is a quantity',
    (written) => {
      expect(written).toMatch(quantityForm);
    },
  );

  it.each(['', '-1', '1 Gi', '1Gi ', '1gi', '1e400', '1,5', '.', 'e3', '0x10', '1Gi\n'])(
    '%j is not a quantity',
    (written) => {
      expect(written).not.toMatch(quantityForm);
    },
  );

  it.each([
    ['1', '1000m'],
    ['1Ki', '1024'],
    ['1.5Gi', '1536Mi'],
    ['2e3', '2k'],
    ['1E', '1e18'],
    ['.5', '500m'],
    ['+1.', '1'],
  ])('%s equals %s', (one, other) => {
    expect(comparableQuantity(one)).toBe(comparableQuantity(other));
  });

  it('compare like numbers', () => {
    const suffixes = fc.constantFrom('', 'm', 'k', 'M', 'Ki', 'Mi');
    const factor: Readonly<Record<string, number>> = { '': 1, m: 1e-3, k: 1e3, M: 1e6, Ki: 1024, Mi: 1024 ** 2 };
    const quantity = fc.tuple(fc.integer({ min: 0, max: 1e6 }), suffixes);
    const valueOf = ([number, suffix]: readonly [number, string]): number => number * (factor[suffix] ?? 0);
    fc.assert(
      fc.property(quantity, quantity, (a, b) => {
        expect(comparableQuantity(a.join('')) < comparableQuantity(b.join(''))).toBe(valueOf(a) < valueOf(b));
      }),
    );
  });
});
