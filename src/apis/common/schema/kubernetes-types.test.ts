import { describe, expect, it } from 'vitest';
import { quantityForm } from './kubernetes-types.ts';

describe('a quantity in a spec', () => {
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
});
