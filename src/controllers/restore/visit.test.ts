import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../test/support/virtual-clock.ts';
import type { RestorePhase } from '../../core/model/restore.ts';
import type { RestoreVerdict } from '../../core/plan/restore/step.ts';
import type { Outcome } from '../../runtime/outcome.ts';
import { Patience } from '../../runtime/patience.ts';
import { nextVisit, visitIfUnchanged } from './visit.ts';

const wait: RestoreVerdict = { is: 'wait', message: 'x' };
const blocked: RestoreVerdict = { ...wait, isBlocked: true };

const afterPass = (phase: RestorePhase, verdict: RestoreVerdict): Outcome =>
  nextVisit(verdict, { memory: { phase }, cluster: 'x' } as never);

const afterGlance = (phase: RestorePhase): Promise<Outcome | undefined> =>
  visitIfUnchanged({ memory: { phase } } as never, { glances: { isUnchanged: async () => true } } as never);

/** How many seconds apart two looks are at a wait that has lasted for ten minutes. */
function secondsApart(outcome: Outcome | undefined): number {
  const clock = new VirtualClock();
  const patience = new Patience<string>(clock);
  const next = (): number => patience.secondsUntilVisit('n/r', outcome as Outcome & { readonly is: 'again' });
  while (clock.monotonic() < 600_000) clock.freeze(next() * 1000);
  return next();
}

describe('a restore that waits', () => {
  it('is looked at every two seconds at least while nothing serves', async () => {
    for (const outcome of [
      afterPass('switching', wait),
      afterPass('switching', blocked),
      await afterGlance('switching'),
    ]) {
      expect(secondsApart(outcome)).toBeLessThanOrEqual(2);
    }
    expect(afterPass('switching', wait)).toMatchObject({ afterSeconds: 0.2, waitsFor: 'switching' });
  });

  it.each(['proving', 'seeding', 'growing'] as const)('is looked at less often in the phase %s', async (phase) => {
    for (const outcome of [afterPass(phase, wait), afterPass(phase, blocked), await afterGlance(phase)])
      expect(secondsApart(outcome)).toBeGreaterThan(20);
  });
});
