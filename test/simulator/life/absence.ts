import type { DisturbedWorld } from './disturbances.ts';
import { disturbances } from './disturbances.ts';

/** What happens while the operator is away. */
const meanwhile = ['delete pod', 'delete pod by force', 'crash container', 'stop node', 'edit version', 'edit size'];

/**
 * The operator is away for a while. In many lives that is the moment of formation: what the operator has not recorded is
 * what it must not guess.
 */
export function planAbsence(on: DisturbedWorld, at: number): void {
  const { world, operators, random } = on;
  const { scheduler, trace } = world;
  const millis = random.between(5_000, 60_000);
  scheduler.after(at, () => {
    trace.add('FAULT', () => `the operator is away for ${Math.round(millis / 1000)} s`);
    operators.isDown = true;
    for (const process of operators.running) operators.crash(process);
  });
  for (let i = random.whole(0, 3); i > 0; i--) {
    const name = random.pick(meanwhile);
    scheduler.after(at + random.between(500, millis), () => {
      const what = disturbances[name]?.(on);
      if (what !== undefined) trace.add('FAULT', () => `${name}: ${what}`);
    });
  }
  scheduler.after(at + millis, () => {
    operators.isDown = false;
    operators.replace();
  });
}
