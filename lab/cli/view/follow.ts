import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '../../../src/kube/client.ts';
import { type KubeObject, keyOf, type Stored } from '../../../src/kube/object.ts';
import type { Resource } from '../../../src/kube/resource.ts';

export interface Following<T extends KubeObject> {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly resource: Resource<T>;
  /** Called for each existing object and for each change; `undefined` stands for a deleted object. */
  readonly onChange: (key: string, object: Stored<T> | undefined) => void;
}

const retryMillis = 500;

/** Follows all objects of a resource in all namespaces until the signal aborts. A watch that ends is restarted. */
export async function follow<T extends KubeObject>(following: Following<T>, signal: AbortSignal): Promise<void> {
  const reported = new Map<string, string>();
  while (!signal.aborted) {
    await followOnce(following, reported, signal).catch(() => undefined);
    if (!signal.aborted) await sleep(retryMillis, undefined, { signal }).catch(() => undefined);
  }
}

/** `reported` has the last reported version of each object, to find what a new list adds and lacks. */
async function followOnce<T extends KubeObject>(
  { client, resource, onChange }: Following<T>,
  reported: Map<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const report = (object: Stored<T>, isGone = false): void => {
    const key = keyOf(object.metadata);
    const { resourceVersion } = object.metadata;
    if (isGone) reported.delete(key);
    else if (reported.get(key) === resourceVersion) return;
    else reported.set(key, resourceVersion);
    onChange(key, isGone ? undefined : object);
  };
  const { items, resourceVersion } = await client.list(resource, { signal });
  const present = new Set(items.map(({ metadata }) => keyOf(metadata)));
  for (const key of reported.keys()) if (!present.has(key) && reported.delete(key)) onChange(key, undefined);
  for (const item of items) report(item);
  for await (const event of client.watch(resource, { resourceVersion, signal }))
    if (event.type !== 'BOOKMARK') report(event.object, event.type === 'DELETED');
}
