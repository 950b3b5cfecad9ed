import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { looksLike, text, withRules } from './rule.ts';

describe('a schema with rules', () => {
  const even = { cel: 'self % 2 == 0', message: 'must be even', holds: (n: number) => n % 2 === 0 };
  const small = { cel: 'self < 10', message: 'must be small', holds: (n: number) => n < 10 };

  it('has each rule for the API server, and checks it itself', () => {
    const schema = withRules(withRules(z.int(), even), small);
    expect(schema.meta()?.['x-kubernetes-validations']).toEqual([
      { rule: 'self % 2 == 0', message: 'must be even' },
      { rule: 'self < 10', message: 'must be small' },
    ]);
    expect(schema.safeParse(4).success).toBe(true);
    expect(schema.safeParse(3).error?.issues[0]?.message).toBe('must be even');
    expect(schema.safeParse(12).error?.issues[0]?.message).toBe('must be small');
  });

  it('writes a pattern in RE2 syntax', () => {
    expect(looksLike(new RegExp('^a/b[.]c$'), '').cel).toBe("self.matches(r'^a/b[.]c$')");
  });
});

describe('text of limited length', () => {
  it('counts characters as the API server does', () => {
    expect(text(3).safeParse('😀😀😀').success).toBe(true);
    expect(text(3).safeParse('😀😀😀😀').success).toBe(false);
    expect(text(3).safeParse('abcd').success).toBe(false);
  });
});
