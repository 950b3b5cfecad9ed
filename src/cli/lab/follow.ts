import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '../../kube/client.ts';
import { type KubeObject, keyOf, type Stored } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';

export interface Following<T extends KubeObject> {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly resource: Resource<T>;
  /** Told once of each object that is there, and of each change; `undefined` stands for one that was deleted. */
  readonly onChange: (key: string, object: Stored<T> | undefined) => void;
}

const againMillis = 500;

/** Tells what is there and what changes in all namespaces, until told to stop; a watch that ends is begun again. */
export async function follow<T extends KubeObject>(following: Following<T>, signal: AbortSignal): Promise<void> {
  const told = new Map<string, string>();
  while (!signal.aborted) {
    await followOnce(following, told, signal).catch(() => undefined);
    if (!signal.aborted) await sleep(againMillis, undefined, { signal }).catch(() => undefined);
  }
}

/** `told` holds the version of each object that was told last: a list has much that was, and lacks what has gone. */
async function followOnce<T extends KubeObject>(
  { client, resource, onChange }: Following<T>,
  told: Map<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const tell = (object: Stored<T>, isGone = false): void => {
    const key = keyOf(object.metadata);
    const { resourceVersion } = object.metadata;
    if (isGone) told.delete(key);
    else if (told.get(key) === resourceVersion) return;
    else told.set(key, resourceVersion);
    onChange(key, isGone ? undefined : object);
  };
  const { items, resourceVersion } = await client.list(resource, { signal });
  const present = new Set(items.map(({ metadata }) => keyOf(metadata)));
  for (const key of told.keys()) if (!present.has(key) && told.delete(key)) onChange(key, undefined);
  for (const item of items) tell(item);
  for await (const event of client.watch(resource, { resourceVersion, signal }))
    if (event.type !== 'BOOKMARK') tell(event.object, event.type === 'DELETED');
}
