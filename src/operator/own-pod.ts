import type { KubeClient } from '../kube/client.ts';
import type { KubeObject } from '../kube/object.ts';
import { pods } from '../kube/resource.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { type EventContent, EventRecorder } from '../runtime/events.ts';
import { Failure } from '../std/failure.ts';

export interface OwnPodContext {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'patch'>;
  readonly podName: string | undefined;
  readonly podNamespace: string | undefined;
  readonly onFailure: (failure: Failure) => void;
}

/** Records Events about the operator on its own pod. Outside a pod there is only the log. */
export async function recordOnOwnPod(events: readonly EventContent[], context: OwnPodContext): Promise<void> {
  const { client, podName: name, podNamespace: namespace, onFailure } = context;
  if (name === undefined || namespace === undefined || events.length === 0) return;
  const pod = await lookUp(client, { name, namespace });
  const recorder = new EventRecorder({ client, clock, component: name, instance: name, onFailure });
  for (const event of events) recorder.record(pod, event);
  await recorder.flush(AbortSignal.timeout(5_000));
}

/**
 * Reads the UID of the pod, by which `kubectl describe` finds Events. Without the right to read it, the UID is left
 * out.
 */
async function lookUp(
  client: OwnPodContext['client'],
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
