import { expect, it } from 'vitest';
import { expand } from './expand.ts';

it('$(NAME) references are expanded as Kubernetes does', () => {
  const values = { A: '1', B: '$(A)' };
  expect(expand('x$(A)y', values)).toBe('x1y');
  expect(expand('$(B)', values)).toBe('$(A)');
  expect(expand('$$(A) $(UNKNOWN) $A $', values)).toBe('$(A) $(UNKNOWN) $A $');
});
