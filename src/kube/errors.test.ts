import { describe, expect, it } from 'vitest';
import { Failure } from '../std/failure.ts';
import {
  failureOfAnswer,
  failureOfEvent,
  isAbsentOrUndefined,
  isAlreadyExists,
  isExpired,
  retryAfterOf,
  unanswered,
} from './errors.ts';

const status = (code: number, reason: string, more = {}): string =>
  JSON.stringify({ kind: 'Status', status: 'Failure', message: `it is ${reason}`, reason, code, ...more });

describe('an unsuccessful answer', () => {
  it.each([
    [400, 'BadRequest', 'rejected'],
    [403, 'Forbidden', 'forbidden'],
    [404, 'NotFound', 'not-found'],
    [405, 'MethodNotAllowed', 'rejected'],
    [409, 'Conflict', 'conflict'],
    [409, 'AlreadyExists', 'conflict'],
    [410, 'Expired', 'conflict'],
    [422, 'Invalid', 'rejected'],
    [429, 'TooManyRequests', 'unreachable'],
    [500, 'InternalError', 'unreachable'],
    [503, 'ServiceUnavailable', 'unreachable'],
    [504, 'Timeout', 'unreachable'],
  ])('with status %i %s is a failure of the kind %s', (code, reason, kind) => {
    const failure = failureOfAnswer('create pods default/x', code, { text: status(code, reason) });
    expect(failure).toMatchObject({ kind, reason, message: `create pods default/x: it is ${reason}` });
    expect(isAlreadyExists(failure)).toBe(reason === 'AlreadyExists');
    expect(isExpired(failure)).toBe(reason === 'Expired');
  });

  it('with status 404 is not-found only if its body is a Status with the reason NotFound', () => {
    const kindOf = (text: string): string => failureOfAnswer('get pods default/x', 404, { text }).kind;
    expect(kindOf(status(404, 'NotFound'))).toBe('not-found');
    const others = [
      '',
      '404 page not found\n',
      '<html>no such host</html>',
      '{"reason":"NotFound"}',
      '{"kind":"Status"}',
    ];
    expect(new Set(others.map(kindOf))).toEqual(new Set(['unreachable']));
  });

  it('for an undefined kind differs from the 404 of a proxy', () => {
    const isOne = (text: string): boolean => isAbsentOrUndefined(failureOfAnswer('list etcdpeers', 404, { text }));
    expect([status(404, 'NotFound'), '404 page not found\n', '<html>no such host</html>'].map(isOne)).toEqual([
      ...[true, true, false],
    ]);
    expect(isAbsentOrUndefined(failureOfAnswer('list etcdpeers', 502, { text: 'bad gateway' }))).toBe(false);
  });

  it('with status 401 is unreachable, and its message names the credentials', () => {
    expect(failureOfAnswer('list pods', 401, { text: status(401, 'Unauthorized') })).toMatchObject({
      kind: 'unreachable',
      reason: 'Unauthorized',
      message: expect.stringMatching(/^list pods: .* does not accept our credentials; .*: it is Unauthorized$/),
    });
  });

  it('to a patch with a stale UID is a conflict', () => {
    const details = { causes: [{ reason: 'FieldValueInvalid', field: 'metadata.uid' }] };
    expect(failureOfAnswer('patch x', 422, { text: status(422, 'Invalid', { details }) }).kind).toBe('conflict');
  });

  it('has the message of its Status, its text, or its status code', () => {
    const messageFor = (text: string): string => failureOfAnswer('get /version', 502, { text }).message;
    expect(messageFor('<html>bad gateway</html>')).toBe('get /version: <html>bad gateway</html>');
    expect(messageFor('')).toBe('get /version: HTTP status 502');
    expect(messageFor('null')).toBe('get /version: null');
    expect(messageFor('x'.repeat(5000)).length).toBeLessThan(600);
  });

  it('carries the Retry-After time of its header or its body', () => {
    const text = status(429, 'TooManyRequests', { details: { retryAfterSeconds: 7 } });
    expect(retryAfterOf(failureOfAnswer('x', 429, { text }))).toBe(7);
    expect(retryAfterOf(failureOfAnswer('x', 429, { text, retryAfter: '3' }))).toBe(3);
    expect(
      retryAfterOf(failureOfAnswer('x', 429, { text: '', retryAfter: 'Wed, 21 Oct 2026 07:28:00 GMT' })),
    ).toBeUndefined();
    expect(retryAfterOf(new Failure('unreachable', 'x'))).toBeUndefined();
  });

  it('limits the Retry-After time to a minute', () => {
    const waits = (retryAfterSeconds: unknown, retryAfter?: string): number | undefined => {
      const text = status(429, 'TooManyRequests', { details: { retryAfterSeconds } });
      return retryAfterOf(failureOfAnswer('x', 429, { text, ...(retryAfter !== undefined && { retryAfter }) }));
    };
    expect([waits(1e9), waits(7, '86400'), waits('soon'), waits(-1)]).toEqual([60, 60, undefined, undefined]);
  });
});

describe('an ERROR event of a watch', () => {
  it('is the failure of its Status', () => {
    const expired = failureOfEvent('watch pods', { code: 410, reason: 'Expired', message: 'too old' });
    expect(expired).toMatchObject({ kind: 'conflict', message: 'watch pods: too old' });
    expect(isExpired(expired)).toBe(true);
    expect(failureOfEvent('watch pods', null)).toMatchObject({ kind: 'unreachable' });
  });
});

describe('a missing answer', () => {
  it('is unreachable: the request may have taken effect', () => {
    const cause = new Error('connect ECONNREFUSED 10.0.0.1:6443');
    const failure = unanswered('delete pods default/x', cause);
    expect(failure).toMatchObject({ kind: 'unreachable', message: `delete pods default/x: ${cause.message}`, cause });
  });

  it('has the error of each tried address in its message', () => {
    const tried = new AggregateError([new Error('connect ECONNREFUSED ::1:80'), new Error('connect ETIMEDOUT')]);
    expect(unanswered('get x', tried).message).toBe('get x: connect ECONNREFUSED ::1:80; connect ETIMEDOUT');
  });

  it('names the reason of the abort', () => {
    const stopped = AbortSignal.abort(new Error('shutting down'));
    const failure = unanswered('get x', new Error('aborted'), stopped);
    expect(failure.message).toBe('get x: aborted before the answer (shutting down)');
  });

  it('keeps an existing Failure', () => {
    const failure = new Failure('rejected', 'no');
    expect(unanswered('get x', failure)).toBe(failure);
  });
});
