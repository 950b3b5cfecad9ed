import { expect, it } from 'vitest';
import type { KubeClient } from '../../../src/kube/client.ts';
import type { KubeObject, Stored } from '../../../src/kube/object.ts';
import { namespaced } from '../../../src/kube/resource.ts';
import type { WatchEvent } from '../../../src/kube/watch-events.ts';
import { follow } from './follow.ts';

const things = namespaced<KubeObject>({ group: '', version: 'v1', plural: 'things', kind: 'Thing' });
const thing = (name: string, resourceVersion: string): Stored<KubeObject> => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name, namespace: 'n', uid: name, creationTimestamp: '', resourceVersion },
});

it('a restarted watch reports no change twice and reports deletions it missed', async () => {
  const lists = [[thing('a', '1'), thing('b', '2')], [thing('a', '4')]];
  const watched: WatchEvent<KubeObject>[][] = [[{ type: 'MODIFIED', object: thing('a', '4') }], []];
  const reported: string[] = [];
  const end = new AbortController();
  const client = {
    list: async () => ({ items: lists.shift() ?? [], resourceVersion: '3' }),
    async *watch() {
      yield* watched.shift() ?? [];
      if (watched.length === 0) end.abort();
    },
  } as unknown as Pick<KubeClient, 'list' | 'watch'>;
  const onChange = (key: string, object: KubeObject | undefined): void =>
    void reported.push(`${key} ${object?.metadata.resourceVersion ?? 'gone'}`);
  await follow({ client, resource: things, onChange }, end.signal);
  expect(reported).toEqual(['n/a 1', 'n/b 2', 'n/a 4', 'n/b gone']);
});
