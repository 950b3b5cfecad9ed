import { live } from './life/life.ts';

// Most errors are expected refusals. Their stack traces cost more than the lives.
Error.stackTraceLimit = 0;

/** Runs the lives of the seeds that the parent sends. */
process.on('message', (seed: number) => {
  live(seed).then(
    (result) => process.send?.(result),
    (thrown: unknown) => {
      console.error(`seed ${seed}:`, thrown);
      process.exit(1);
    },
  );
});
