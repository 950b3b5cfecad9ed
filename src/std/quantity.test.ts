import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatQuantity, nanosOf, parseQuantity } from './quantity.ts';

describe('quantities', () => {
  it.each(['', '1 Gi', '1Gi ', '1gi', '1,5', '.', 'e3', '0x10'])('%j is not parsed', (written) => {
    expect(parseQuantity(written)).toBeUndefined();
    expect(nanosOf(written)).toBe(0n);
  });

  it.each([
    ['1', '1000m'],
    ['1Ki', '1024'],
    ['1.5Gi', '1536Mi'],
    ['2e3', '2k'],
    ['1E', '1e18'],
    ['.5', '500m'],
    ['+1.', '1'],
    ['1e-99', '1n'],
  ])('%s equals %s', (one, other) => {
    expect(nanosOf(one)).toBe(nanosOf(other));
  });

  it('compare like numbers', () => {
    const suffixes = fc.constantFrom('', 'm', 'k', 'M', 'Ki', 'Mi');
    const factor: Readonly<Record<string, number>> = { '': 1, m: 1e-3, k: 1e3, M: 1e6, Ki: 1024, Mi: 1024 ** 2 };
    const quantity = fc.tuple(fc.integer({ min: 0, max: 1e6 }), suffixes);
    const valueOf = ([number, suffix]: readonly [number, string]): number => number * (factor[suffix] ?? 0);
    fc.assert(
      fc.property(quantity, quantity, (a, b) => {
        expect(nanosOf(a.join('')) < nanosOf(b.join(''))).toBe(valueOf(a) < valueOf(b));
      }),
    );
  });

  it('are formatted in the largest unit without a fraction, in the family in which they are written', () => {
    const formatted = ['0', '1000m', '1024Ki', '1.5Gi', '1000', '2e3', '-1', '0.1'].map((written) => {
      const parsed = parseQuantity(written);
      return parsed === undefined ? undefined : formatQuantity(parsed);
    });
    expect(formatted).toEqual(['0', '1', '1Mi', '1536Mi', '1k', '2e3', '-1', '100m']);
  });

  it('with a huge exponent are parsed at once', () => {
    expect(nanosOf('1e999999999')).toBeGreaterThan(nanosOf('1e300'));
    expect(nanosOf('1e-999999999')).toBe(1n);
  });
});
