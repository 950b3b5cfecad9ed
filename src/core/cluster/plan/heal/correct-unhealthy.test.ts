import { describe, expect, it } from 'vitest';
import { aKnownWorld, type Change, withIntent, withMember, withMemberPod } from '../../../../../test/support/worlds.ts';
import { correctUnhealthy } from './correct-unhealthy.ts';

const upgrade = withIntent({ version: '3.5.36' });
const silent = (millis: number): Change =>
  withMember('db-2', { health: 'silent', silence: { millis, times: 1 } as never });
const verdictOn = (...changes: readonly Change[]) => correctUnhealthy(aKnownWorld(upgrade, ...changes))?.is;

describe('an outdated member that does not answer', () => {
  it('is changed if its pod is not ready', () => {
    expect(verdictOn(silent(0), withMemberPod('db-2', { ready: false }))).toBe('act');
  });

  it('is not changed after one lost call if its pod is ready', () => {
    expect(verdictOn(silent(0))).toBeUndefined();
  });

  it('is changed if its pod is ready and it has not answered for 15 seconds', () => {
    expect(verdictOn(silent(15_000))).toBe('act');
  });

  it('is not changed while another member is about to restart with its new image', () => {
    const changing = withMemberPod('db-1', { isChanging: true });
    expect(verdictOn(silent(15_000), withMemberPod('db-2', { ready: false }), changing)).toBeUndefined();
  });
});
