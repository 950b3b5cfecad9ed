import type { KubeClient } from '../kube/client.ts';
import type { KubeObject } from '../kube/object.ts';
import { pods } from '../kube/resource.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { EventRecorder, type Told } from '../runtime/events.ts';
import { Failure } from '../std/failure.ts';

export interface Teller {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'patch'>;
  readonly podName: string | undefined;
  readonly podNamespace: string | undefined;
  readonly onTrouble: (failure: Failure) => void;
}

/** Tells people about the operator itself, in Events on its own pod. Without a pod there is only the log. */
export async function tellOnOwnPod(news: readonly Told[], teller: Teller): Promise<void> {
  const { client, podName: name, podNamespace: namespace, onTrouble } = teller;
  if (name === undefined || namespace === undefined || news.length === 0) return;
  const pod = await lookUp(client, { name, namespace });
  const recorder = new EventRecorder({ client, clock, component: name, instance: name, onTrouble });
  for (const told of news) recorder.record(pod, told);
  await recorder.flush(AbortSignal.timeout(5_000));
}

/** `kubectl describe` finds Events by the uid of their object; where we may not read it, `kubectl get events` has to do. */
async function lookUp(
  client: Teller['client'],
  at: { readonly name: string; readonly namespace: string },
): Promise<KubeObject> {
  try {
    const { metadata } = await client.get(pods, at, { timeoutSeconds: 5 });
    return { apiVersion: 'v1', kind: 'Pod', metadata: { ...at, uid: metadata.uid } };
  } catch (thrown) {
    if (Failure.from(thrown).kind === 'bug') throw thrown;
    return { apiVersion: 'v1', kind: 'Pod', metadata: at };
  }
}
