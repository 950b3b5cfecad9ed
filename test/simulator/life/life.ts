import { Random } from '../world/random.ts';
import { planAbsence } from './absence.ts';
import { difference, told } from './convergence.ts';
import { type DisturbedWorld, disturbances } from './disturbances.ts';
import { Operators } from './operators.ts';
import { drawRates, SeededFaults } from './seeded-faults.ts';
import { User } from './user.ts';
import { World } from './world.ts';

export interface LifeResult {
  readonly seed: number;
  /** The broken invariants; empty for a good life. */
  readonly violations: readonly string[];
  readonly trace: readonly string[];
  /** Virtual seconds. */
  readonly seconds: number;
}

/** The broken invariants of a life, and the command that shows its trace. */
export const describeFailure = ({ seed, violations, seconds }: LifeResult): string =>
  [
    `seed ${seed}, after ${Math.round(seconds)} virtual s:`,
    ...violations,
    `make simulate SEED=${seed} shows the trace`,
  ].join('\n  ');

/** The time within which a cluster without faults must be as its spec asks for, and how long nothing is written then. */
const convergeMillis = 1_800_000;
const quietMillis = 60_000;

/** Runs one life: a cluster is created, everything goes wrong for some minutes, then all is well again. */
export async function live(seed: number, { isTraced = false } = {}): Promise<LifeResult> {
  const random = new Random(seed ^ 0x5eed);
  const faults = new SeededFaults(random.fork(), drawRates(random));
  const world = new World(seed, { faultsOf: () => faults, isTraced });
  const operators = new Operators(world);
  const user = new User(world, random.fork());
  const { scheduler, violations } = world;
  const isOver = (): boolean => violations.found.length > 0;
  operators.start();
  if (random.chance(0.3)) operators.start();
  scheduler.after(random.between(0, 3_000), () => user.create());
  const troubleMillis = random.between(20_000, 240_000);
  const disturbed = { world, operators, user, random: random.fork() };
  planDisturbances(disturbed, troubleMillis);
  if (random.chance(0.25)) planAbsence(disturbed, random.between(2_000, 9_000));
  await scheduler.runUntil(troubleMillis, isOver);
  if (!isOver()) endTrouble({ world, operators, user, faults });
  if (!isOver()) await converge(world, isOver);
  for (const process of operators.running) process.kill();
  return { seed, violations: violations.found, trace: world.trace.lines, seconds: scheduler.now / 1000 };
}

function planDisturbances(on: DisturbedWorld, withinMillis: number): void {
  const { world, random } = on;
  const all = Object.entries(disturbances);
  const chosen = all.filter(() => random.chance(0.35));
  const count = chosen.length === 0 ? 0 : random.whole(0, Math.ceil(withinMillis / 12_000));
  for (let i = 0; i < count; i++) {
    const [name, disturb] = random.pick(chosen);
    world.scheduler.after(random.between(3_000, withinMillis), () => {
      const what = disturb(on);
      if (what !== undefined) world.trace.add('FAULT', () => `${name}: ${what}`);
    });
  }
}

interface Ending {
  readonly world: World;
  readonly operators: Operators;
  readonly user: User;
  readonly faults: SeededFaults;
}

function endTrouble({ world, operators, user, faults }: Ending): void {
  world.trace.add('world', () => 'all faults end');
  faults.stop();
  world.network.healAll();
  world.nodes.restoreAll();
  for (const runner of world.nodes.runners) if (runner.process !== undefined) runner.process.slowMillis = 0;
  user.resume();
  operators.isDown = false;
  operators.replace();
}

/** Liveness (I21): the cluster becomes as the spec asks for, stays so, and nothing more is written. */
async function converge(world: World, isOver: () => boolean): Promise<void> {
  const { scheduler, violations, oracles } = world;
  const until = scheduler.now + convergeMillis;
  while (scheduler.now < until && !isOver() && difference(world) !== undefined)
    await scheduler.runUntil(scheduler.now + 20_000, isOver);
  const missing = difference(world);
  if (isOver() || missing !== undefined) return complain(world, missing);
  await scheduler.runUntil(scheduler.now + quietMillis, isOver);
  const before = oracles.writes;
  await scheduler.runUntil(scheduler.now + quietMillis, isOver);
  const written = oracles.writes - before;
  if (written > 0 && !isOver()) violations.add('I21', `still writes ${written} times a minute: ${oracles.lastWrite}`);
  complain(world, difference(world));
}

function complain(world: World, missing: string | undefined): void {
  const { violations } = world;
  if (missing !== undefined && violations.found.length === 0)
    violations.add(
      'I21',
      `not as the spec asks for, ${convergeMillis / 1000} s after the last fault: ${missing}; ${told(world)}`,
    );
}
