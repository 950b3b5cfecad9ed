import { expect, it } from 'vitest';
import { checkerInput } from './checker-input.ts';
import type { KeyAnswer, KeyRequest, Operation } from './operation.ts';

const ok = (value = '', done = true): KeyAnswer => ({ outcome: 'ok', revision: 2, done, value, modRevision: 2 });
const unknown: KeyAnswer = { outcome: 'unknown', reason: 'no answer' };
const failed: KeyAnswer = { outcome: 'failed', reason: 'refused' };

const operation = (request: KeyRequest, answer: KeyAnswer): Operation => ({
  ...{ client: 1, request, call: 1, return: 9, answer },
});

const put = { kind: 'put', key: 'a', value: '1-1' } as const;

const kept = (request: KeyRequest, answer: KeyAnswer, seen: readonly string[] = []): unknown =>
  checkerInput(
    [operation(request, answer)],
    seen.map((value) => ({ ...{ revision: 2, key: 'a', kind: 'put', value } })),
  )[0];

it('an answered request is a line with both times', () => {
  const line = {
    client: 1,
    kind: 'put',
    key: 'a',
    value: '1-1',
    expected: '',
    done: true,
    answered: true,
    call: 1,
    return: 9,
  };
  expect(kept(put, ok())).toEqual(line);
  expect(kept({ kind: 'get', key: 'a' }, ok('1-1'))).toEqual({ ...line, kind: 'get' });
  const cas = { ...put, kind: 'cas', expected: { value: '0-1', modRevision: 1, by: 'value' } } as const;
  expect(kept(cas, ok('', false))).toEqual({ ...line, kind: 'cas', expected: '0-1', done: false });
});

it('an unanswered write counts, without an end, if its value was seen', () => {
  expect(kept(put, unknown, ['1-1'])).toMatchObject({ value: '1-1', done: false });
  expect(kept(put, unknown, ['1-2'])).toBeUndefined();
});

it('an unanswered write counts if its value was read, even if no watch has seen it', () => {
  const read = operation({ kind: 'get', key: 'a' }, ok('1-1'));
  expect(checkerInput([operation(put, unknown), read], [])).toHaveLength(2);
});

it('an unanswered write was applied before the first answer with its revision', () => {
  const late = operation({ kind: 'get', key: 'b' }, ok());
  const early = { ...late, return: 5 };
  const seen = [{ revision: 2, key: 'a', kind: 'put', value: '1-1' }] as const;
  expect(checkerInput([late, operation(put, unknown), early], seen)[1]).toMatchObject({ answered: false, return: 5 });
  expect(checkerInput([operation(put, unknown)], seen)[0]).not.toHaveProperty('return');
});

it('an unanswered delete counts if a deletion is of no other request', () => {
  const unansweredDelete = operation({ kind: 'delete', key: 'a' }, unknown);
  const answeredDelete = operation({ kind: 'delete', key: 'a' }, ok());
  const deletion = { revision: 2, key: 'a', kind: 'delete', value: '' } as const;
  expect(checkerInput([unansweredDelete], [deletion])).toHaveLength(1);
  expect(checkerInput([unansweredDelete, answeredDelete], [deletion])).toHaveLength(1);
  expect(checkerInput([unansweredDelete], [])).toEqual([]);
});

it('a refused request and an unanswered read do not count', () => {
  expect(kept({ kind: 'get', key: 'a' }, unknown)).toBeUndefined();
  expect(kept(put, failed, ['1-1'])).toBeUndefined();
});
