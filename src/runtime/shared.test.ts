import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shared } from './shared.ts';

const parsed = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('shared', () => {
  it('returns the model for an equal value', () => {
    const model = { spec: { containers: [{ name: 'etcd', args: ['--a', '--b'] }] } };
    expect(shared(parsed(model), model)).toBe(model);
  });

  it('keeps the equal parts of the model, and the differences of the value', () => {
    const model = { name: 'a-0', probe: { path: '/health' }, args: ['--name=a-0', { deep: [1, 2] }] };
    const next = shared({ name: 'b-0', probe: { path: '/health' }, args: ['--name=b-0', { deep: [1, 2] }] }, model);
    expect(next).toEqual({ name: 'b-0', probe: { path: '/health' }, args: ['--name=b-0', { deep: [1, 2] }] });
    expect(next.probe).toBe(model.probe);
    expect(next.args[1]).toBe(model.args[1]);
  });

  it.each([
    ['a missing field', { a: 1 }, { a: 1, b: 2 }],
    ['another field', { a: 1, b: 2 }, { a: 1 }],
    ['an object for a list', { 0: 'x' }, ['x']],
    ['a shorter list', ['x'], ['x', 'y']],
    ['null', null, { a: 1 }],
    ['a field of every object', { constructor: 1 }, { a: 1 }],
  ])('does not take %s for equal', (_, next, model) => {
    expect(shared(next, model)).toEqual(next);
    expect(shared(next, model)).not.toBe(model);
  });

  it('never changes a value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (next, model) => {
        const [before, modelBefore] = [JSON.stringify(next), JSON.stringify(model)];
        const result = shared(next, model);
        expect(JSON.stringify(parsed(result))).toBe(before);
        expect([JSON.stringify(next), JSON.stringify(model)]).toEqual([before, modelBefore]);
      }),
    );
  });
});
