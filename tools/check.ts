import { join } from 'node:path';
import { writeFullRun } from './check/full-run.ts';
import { Run, Stopped } from './check/run.ts';
import { checkTier, fullTier, testTier } from './check/tiers.ts';
import { cacheDirectory } from './lib/cache.ts';
import { lock } from './lib/lock.ts';
import { runMain } from './lib/main.ts';
import { endAll } from './lib/measured.ts';

/** The time limit of a run. CI kills a run after 90 minutes; the report must be printed before. */
const limitMinutes = 80;

/** Runs a tier to its end or to its first red gate, and prints the report. */
async function check(tier: (run: Run) => Promise<void>, isBudgeted: boolean): Promise<Run> {
  const run = await Run.begin({ isBudgeted });
  const cutOff = (reason: string) => (): void => {
    run.fail(reason);
    run.end();
    endAll();
    process.exit(1);
  };
  const timer = setTimeout(cutOff(`cut off after ${limitMinutes} minutes`), limitMinutes * 60_000);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, cutOff(`ended by ${signal}`));
  try {
    await tier(run);
    run.end();
  } catch (error) {
    if (!(error instanceof Stopped)) run.fail(error instanceof Error ? (error.stack ?? error.message) : String(error));
    run.end(error instanceof Stopped ? error.message : undefined);
    endAll();
  } finally {
    clearTimeout(timer);
  }
  return run;
}

/** Runs `work` under a lock: two concurrent checks would use and remove each other's clusters. */
async function alone<T>(work: () => Promise<T>): Promise<T> {
  using _held = await lock(join(cacheDirectory(), 'check.lock'), (holder) =>
    process.stderr.write(`waiting for process ${holder}, which runs all checks\n`),
  );
  return await work();
}

async function full(): Promise<void> {
  Object.assign(process.env, { ISOLATED: '1', TRAFFIC: 'dense' });
  await writeFullRun(await alone(() => check(fullTier, false)));
}

const tiers: Readonly<Record<string, () => Promise<unknown>>> = {
  test: () => check(testTier, true),
  all: () => alone(() => check(checkTier, true)),
  full,
};

await runMain(async () => {
  await (tiers[process.argv[2] ?? ''] ?? tiers['all'])?.();
});
