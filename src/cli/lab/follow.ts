import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '../../kube/client.ts';
import type { KubeObject, Stored } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';

export interface Following<T extends KubeObject> {
  readonly client: KubeClient;
  readonly namespace: string;
  /** Told of each object that is there or that changes; `undefined` stands for one that was deleted. */
  readonly onChange: (name: string, object: Stored<T> | undefined) => void;
}

const againMillis = 500;

/** Tells what is there and what changes, until told to stop; a watch that ends is begun again. */
export async function follow<T extends KubeObject>(
  resource: Resource<T>,
  following: Following<T>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await followOnce(resource, following, signal).catch(() => undefined);
    if (!signal.aborted) await sleep(againMillis, undefined, { signal }).catch(() => undefined);
  }
}

async function followOnce<T extends KubeObject>(
  resource: Resource<T>,
  { client, namespace, onChange }: Following<T>,
  signal: AbortSignal,
): Promise<void> {
  const { items, resourceVersion } = await client.list(resource, { namespace, signal });
  for (const item of items) onChange(item.metadata.name, item);
  for await (const event of client.watch(resource, { namespace, resourceVersion, signal })) {
    if (event.type === 'BOOKMARK') continue;
    onChange(event.object.metadata.name, event.type === 'DELETED' ? undefined : event.object);
  }
}
