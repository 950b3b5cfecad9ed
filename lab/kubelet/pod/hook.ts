import type { V1LifecycleHandler } from '@kubernetes/client-node';
import type { Json } from '../../../src/kube/object.ts';
import { whenAborted } from '../../../src/std/when-aborted.ts';
import { check, type ProbeTarget } from '../probe/check.ts';

/** Runs a preStop hook until it succeeds, fails or its time is over. */
export async function runHook(
  { exec, httpGet, sleep }: Json<V1LifecycleHandler>,
  target: ProbeTarget & { readonly deadline: AbortSignal },
): Promise<void> {
  const over = whenAborted(target.deadline);
  const action = { ...(exec === undefined ? {} : { exec }), ...(httpGet === undefined ? {} : { httpGet }) };
  const work =
    sleep === undefined
      ? check({ ...action, timeoutSeconds: 3600 }, target)
      : new Promise((resolve) => setTimeout(resolve, sleep.seconds * 1000).unref());
  await Promise.race([work, over]);
}
