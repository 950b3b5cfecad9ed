import type { V1LifecycleHandler } from '@kubernetes/client-node';
import type { Json } from '../../../kube/object.ts';
import { whenAborted } from '../../../std/when-aborted.ts';
import { check, type Probed } from '../probe/check.ts';

/** Runs what a container asked for before it is stopped. It ends when it is done, fails, or its time is over. */
export async function runHook(
  { exec, httpGet, sleep }: Json<V1LifecycleHandler>,
  probed: Probed & { readonly limit: AbortSignal },
): Promise<void> {
  const over = whenAborted(probed.limit);
  const action = { ...(exec === undefined ? {} : { exec }), ...(httpGet === undefined ? {} : { httpGet }) };
  const work =
    sleep === undefined
      ? check({ ...action, timeoutSeconds: 3600 }, probed)
      : new Promise((resolve) => setTimeout(resolve, sleep.seconds * 1000).unref());
  await Promise.race([work, over]);
}
