import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { looksLike, ruled, text } from './rule.ts';

describe('a ruled schema', () => {
  const even = { cel: 'self % 2 == 0', says: 'must be even', holds: (n: number) => n % 2 === 0 };
  const small = { cel: 'self < 10', says: 'must be small', holds: (n: number) => n < 10 };

  it('tells each rule to the API server, and keeps it itself', () => {
    const schema = ruled(ruled(z.int(), even), small);
    expect(schema.meta()?.['x-kubernetes-validations']).toEqual([
      { rule: 'self % 2 == 0', message: 'must be even' },
      { rule: 'self < 10', message: 'must be small' },
    ]);
    expect(schema.safeParse(4).success).toBe(true);
    expect(schema.safeParse(3).error?.issues[0]?.message).toBe('must be even');
    expect(schema.safeParse(12).error?.issues[0]?.message).toBe('must be small');
  });

  it('tells a pattern in the words of RE2', () => {
    expect(looksLike(new RegExp('^a/b[.]c$'), '').cel).toBe("self.matches(r'^a/b[.]c$')");
  });
});

describe('bounded text', () => {
  it('counts characters as the API server does', () => {
    expect(text(3).safeParse('😀😀😀').success).toBe(true);
    expect(text(3).safeParse('😀😀😀😀').success).toBe(false);
    expect(text(3).safeParse('abcd').success).toBe(false);
  });
});
