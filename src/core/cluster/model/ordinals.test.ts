import { describe, expect, it } from 'vitest';
import { nameOf } from '../../../../test/support/worlds.ts';
import { freeOrdinals, ordinalOf } from './ordinals.ts';

describe('ordinals', () => {
  it('are compared as numbers', () => {
    expect(ordinalOf(nameOf('db-10'))).toBeGreaterThan(ordinalOf(nameOf('db-9')));
    expect(ordinalOf(nameOf('db-2-0'))).toBe(0);
    expect(ordinalOf(nameOf('db'))).toBe(-1);
  });

  it('start at 0 and fill gaps first', () => {
    expect(freeOrdinals('db', new Set(), 3)).toEqual(['db-0', 'db-1', 'db-2']);
    expect(freeOrdinals('db', new Set(['db-0', 'db-2', 'other-1']), 2)).toEqual(['db-1', 'db-3']);
  });
});
