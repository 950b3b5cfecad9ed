import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../test/support/virtual-clock.ts';
import type { RestorePhase } from '../../core/restore/model.ts';
import type { RestoreVerdict } from '../../core/restore/step.ts';
import type { Outcome } from '../../runtime/outcome.ts';
import { WaitBackoff } from '../../runtime/wait-backoff.ts';
import { nextRestoreVisit, visitIfUnchanged } from './visit.ts';

const wait: RestoreVerdict = { is: 'wait', message: 'x' };
const blocked: RestoreVerdict = { ...wait, isBlocked: true };

const afterPass = (phase: RestorePhase, verdict: RestoreVerdict): Outcome =>
  nextRestoreVisit(verdict, { memory: { phase }, cluster: 'x' } as never);

const afterCheck = (phase: RestorePhase): Promise<Outcome | undefined> =>
  visitIfUnchanged({ memory: { phase } } as never, { awaitedObjects: { isUnchanged: async () => true } } as never);

/** Seconds between two passes after a wait of ten minutes. */
function secondsApart(outcome: Outcome | undefined): number {
  const clock = new VirtualClock();
  const backoff = new WaitBackoff<string>(clock);
  const next = (): number => backoff.secondsUntilRequeue('n/r', outcome as Outcome & { readonly is: 'requeue' });
  while (clock.monotonic() < 600_000) clock.freeze(next() * 1000);
  return next();
}

describe('a waiting restore', () => {
  it('has a pass at least every two seconds while no member serves', async () => {
    for (const outcome of [
      afterPass('switching', wait),
      afterPass('switching', blocked),
      await afterCheck('switching'),
    ]) {
      expect(secondsApart(outcome)).toBeLessThanOrEqual(2);
    }
    expect(afterPass('switching', wait)).toMatchObject({ afterSeconds: 0.2, waitsFor: 'switching' });
  });

  it.each(['proving', 'seeding', 'growing'] as const)('has fewer passes in the phase %s', async (phase) => {
    for (const outcome of [afterPass(phase, wait), afterPass(phase, blocked), await afterCheck(phase)])
      expect(secondsApart(outcome)).toBeGreaterThan(20);
  });
});
