import { parseArgs } from 'node:util';
import { describeFailure, live } from './life/life.ts';
import { runLives } from './pool.ts';
import { knownHoles } from './seeds.ts';

/**
 * `--seed 7` runs one life and prints its trace. `--lives 1000` runs seeds 1 to 1000 but those of known holes.
 * `--minutes 60` runs random seeds for so long. Exits with 1 if an invariant was broken.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    lives: { type: 'string', default: '150' },
    from: { type: 'string', default: '1' },
    minutes: { type: 'string' },
  },
});

async function showOne(seed: number): Promise<boolean> {
  const result = await live(seed, { isTraced: true });
  console.log(result.trace.join('\n'));
  console.log(result.violations.length === 0 ? `seed ${seed}: no invariant was broken` : describeFailure(result));
  return result.violations.length === 0;
}

async function runSeeds(seeds: Iterable<number>, untilMillis: number): Promise<boolean> {
  const began = performance.now();
  const { lives, failures } = await runLives(seeds, untilMillis);
  for (const failure of failures) console.log(describeFailure(failure));
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${lives} lives in ${seconds} s, ${failures.length} broke an invariant`);
  return failures.length === 0;
}

function* numbered(from: number, lives: number): Generator<number> {
  for (let seed = from; seed < from + lives; seed++) if (!(seed in knownHoles)) yield seed;
}

function* random(): Generator<number> {
  for (;;) yield Math.floor(Math.random() * 2 ** 31);
}

async function run(): Promise<boolean> {
  const { seed, minutes, from, lives } = values;
  if (seed !== undefined) return showOne(Number(seed));
  if (minutes !== undefined) return runSeeds(random(), Number(minutes) * 60_000);
  return runSeeds(numbered(Number(from), Number(lives)), Number.POSITIVE_INFINITY);
}

process.exitCode = (await run()) ? 0 : 1;
