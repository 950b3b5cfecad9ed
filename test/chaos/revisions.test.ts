import { expect, it } from 'vitest';
import type { KeyRequest, Operation } from './operation.ts';
import { revisionViolations } from './revisions.ts';

interface Sample extends KeyRequest {
  readonly at: readonly [number, number];
  readonly revision: number;
  readonly done?: boolean;
  readonly modRevision?: number;
}

const operation = ({ at: [call, end], revision, done = true, modRevision = 0, ...request }: Sample): Operation => ({
  ...{ client: 0, request, call, return: end },
  answer: { outcome: 'ok', revision, done, modRevision, value: request.kind === 'get' ? (request.value ?? '') : '' },
});

const put: Sample = { kind: 'put', key: 'a', value: 'x', at: [0, 10], revision: 5 };
const get: Sample = { kind: 'get', key: 'a', value: 'x', at: [20, 30], revision: 5, modRevision: 5 };

const found = (...samples: readonly Sample[]): readonly string[] => revisionViolations(samples.map(operation));

it('a write, a read of it, and a concurrent read of the time before violate nothing', () => {
  expect(found(put, get)).toEqual([]);
  expect(found(put, { ...get, value: '', at: [5, 30], revision: 4, modRevision: 0 })).toEqual([]);
  expect(found(put, { kind: 'delete', key: 'b', at: [11, 12], revision: 5, done: false })).toEqual([]);
});

it.each<readonly [string, readonly Sample[], string]>([
  ['two writes with one revision', [put, { ...put, key: 'b', value: 'y' }], 'several writes have one revision'],
  [
    'a read of another key with an older revision',
    [put, { ...get, key: 'b', value: '', revision: 4 }],
    'after an answer',
  ],
  [
    'a later write without a newer revision',
    [put, { ...put, value: 'y', at: [11, 12], revision: 4 }],
    'after an answer',
  ],
  ['a value with the revision of another write', [put, { ...get, modRevision: 4 }], 'but it was written at 5'],
])('%s is a violation', (_title, samples, text) => {
  expect(found(...samples)).toEqual([expect.stringContaining(text)]);
});

it('requests that were not answered have no revision', () => {
  const lost: Operation = { ...operation({ ...put, revision: 1 }), answer: { outcome: 'unknown', reason: 'late' } };
  expect(revisionViolations([operation(put), lost])).toEqual([]);
});
