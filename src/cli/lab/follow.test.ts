import { expect, it } from 'vitest';
import type { KubeClient } from '../../kube/client.ts';
import type { KubeObject, Stored } from '../../kube/object.ts';
import { namespaced } from '../../kube/resource.ts';
import type { WatchEvent } from '../../kube/watch-events.ts';
import { follow } from './follow.ts';

const things = namespaced<KubeObject>({ group: '', version: 'v1', plural: 'things', kind: 'Thing' });
const thing = (name: string, resourceVersion: string): Stored<KubeObject> => ({
  ...{ apiVersion: 'v1', kind: 'Thing' },
  metadata: { name, namespace: 'n', uid: name, creationTimestamp: '', resourceVersion },
});

it('tells nothing again when a watch ended, and does not miss what went meanwhile', async () => {
  const lists = [[thing('a', '1'), thing('b', '2')], [thing('a', '4')]];
  const watched: WatchEvent<KubeObject>[][] = [[{ type: 'MODIFIED', object: thing('a', '4') }], []];
  const told: string[] = [];
  const end = new AbortController();
  const client = {
    list: async () => ({ items: lists.shift() ?? [], resourceVersion: '3' }),
    async *watch() {
      yield* watched.shift() ?? [];
      if (watched.length === 0) end.abort();
    },
  } as unknown as Pick<KubeClient, 'list' | 'watch'>;
  const onChange = (key: string, object: KubeObject | undefined): void =>
    void told.push(`${key} ${object?.metadata.resourceVersion ?? 'gone'}`);
  await follow({ client, resource: things, onChange }, end.signal);
  expect(told).toEqual(['n/a 1', 'n/b 2', 'n/a 4', 'n/b gone']);
});
