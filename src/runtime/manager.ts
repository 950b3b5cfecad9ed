/** Runs until `signal` aborts. Nothing starts in a constructor. */
export type Runnable = (signal: AbortSignal) => Promise<void>;

/** Runs all of them. The first failure stops the rest. Returns, or throws that failure, after the last has ended. */
export async function runTogether(runnables: readonly Runnable[], outer: AbortSignal): Promise<void> {
  const inner = new AbortController();
  const signal = AbortSignal.any([outer, inner.signal]);
  let first: { readonly thrown: unknown } | undefined;

  const ends = runnables.map(async (run) => {
    try {
      await run(signal);
    } catch (thrown) {
      first ??= { thrown };
      inner.abort(thrown);
    }
  });

  await Promise.all(ends);
  if (first !== undefined) throw first.thrown;
}
