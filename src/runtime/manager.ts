/** A thing that runs until told to stop. Starting it is a call, never a constructor's side effect. */
export type Runnable = (signal: AbortSignal) => Promise<void>;

/** Runs all of them; the first to fail stops the rest; returns when the last one has ended. */
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
