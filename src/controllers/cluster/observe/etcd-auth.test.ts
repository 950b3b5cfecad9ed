import { describe, expect, it } from 'vitest';
import { aWorld, withIntent, withMember } from '../../../../test/support/worlds.ts';
import { EtcdFailure } from '../../../etcd/errors.ts';
import type { EtcdRefusal } from '../../../etcd/refusals.ts';
import { Failure } from '../../../std/failure.ts';
import { hasUsers } from './etcd-auth.ts';

const old = ['db-0', 'db-1', 'db-2'].map((name) => withMember(name, { version: '3.4.31' }));
const goingTo = (version: string) => aWorld(...old, withIntent({ version }));
const signal = new AbortController().signal;
const refusing = (refusal: EtcdRefusal) => (): Promise<string> =>
  Promise.reject(new EtcdFailure('rejected', refusal, { refusal, mayBeDone: false }));
const asking = (version: string, authenticate: () => Promise<string>): Promise<boolean> =>
  hasUsers(goingTo(version), () => ({ authenticate }), signal);

describe('etcd auth', () => {
  it('is enabled or disabled by the refusal of an unknown user', async () => {
    expect(await asking('3.5.35', refusing('auth-not-enabled'))).toBe(false);
    expect(await asking('3.5.35', refusing('wrong-password'))).toBe(true);
  });

  it('counts as enabled if etcd does not answer', async () => {
    expect(await asking('3.5.35', () => Promise.reject(new Failure('unreachable', 'no answer')))).toBe(true);
    expect(await hasUsers(goingTo('3.5.35'), () => undefined, signal)).toBe(true);
  });

  it('is not read if no upgrade depends on it, and a bug of the operator is thrown', async () => {
    const bug = (): Promise<string> => Promise.reject(new TypeError('asked'));
    expect(await asking('3.4.37', bug)).toBe(false);
    await expect(asking('3.5.35', bug)).rejects.toThrow('asked');
  });
});
