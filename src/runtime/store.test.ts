import { describe, expect, it } from 'vitest';
import { samplePod } from '../../test/support/sample-objects.ts';
import type { Pod } from '../kube/object.ts';
import type { Failure } from '../std/failure.ts';
import { byLabel, byOwner, type Change, Store } from './store.ts';

function watchedStore(): { store: Store<Pod>; changes: string[]; failures: Failure[] } {
  const failures: Failure[] = [];
  const changes: string[] = [];
  const store = new Store<Pod>({
    indexes: { app: byLabel('app'), owner: byOwner },
    onHandlerFailure: (failure) => failures.push(failure),
  });
  store.onChange((change) => changes.push(textOf(change)));
  return { store, changes, failures };
}

const textOf = ({ type, object, old }: Change<Pod>): string =>
  `${type} ${object.metadata.name}@${object.metadata.resourceVersion} after ${old?.metadata.resourceVersion ?? 'nothing'}`;

describe('the store', () => {
  it('stores objects and notifies its handlers', () => {
    const { store, changes } = watchedStore();
    store.replace([samplePod('a', 1), samplePod('b', 2)], '5');
    store.put(samplePod('a', 6));
    store.remove(samplePod('b', 7));
    expect(changes).toEqual([
      'added a@1 after nothing',
      'added b@2 after nothing',
      'updated a@6 after 1',
      'deleted b@7 after 2',
    ]);
    expect(store.get('default/a')).toEqual(samplePod('a', 6));
    expect(store.get('default/b')).toBeUndefined();
    expect(store.versionIn(undefined)).toBe('7');
  });

  it('notifies only of differences after a list', () => {
    const { store, changes } = watchedStore();
    store.replace([samplePod('a', 1), samplePod('b', 2), samplePod('c', 3)], '5');
    changes.length = 0;
    store.replace([samplePod('a', 1), samplePod('b', 8), samplePod('d', 9)], '10');
    expect(changes).toEqual(['deleted c@3 after 3', 'updated b@8 after 2', 'added d@9 after nothing']);
    expect(store.versionIn(undefined)).toBe('10');
  });

  it('reports a new pod with the name of an old one as a deletion and an addition', () => {
    const { store, changes } = watchedStore();
    store.put(samplePod('a', 1));
    store.put(samplePod('a', 9, { uid: 'another' }));
    store.replace([samplePod('a', 12, { uid: 'a third' })], '12');
    expect(changes).toEqual([
      'added a@1 after nothing',
      'deleted a@1 after 1',
      'added a@9 after nothing',
      'deleted a@9 after 9',
      'added a@12 after nothing',
    ]);
  });

  it('ignores an older state of an object, except from a list', () => {
    const { store, changes } = watchedStore();
    store.put(samplePod('a', 10));
    store.put(samplePod('a', 9));
    expect(store.get('default/a')?.metadata.resourceVersion).toBe('10');
    expect(store.versionIn(undefined)).toBe('10');
    expect(changes).toHaveLength(1);
    store.replace([samplePod('a', 3)], '4');
    expect(store.get('default/a')?.metadata.resourceVersion).toBe('3');
    expect(store.versionIn(undefined)).toBe('4');
  });

  it('finds the current objects of a namespace by label and by owner', () => {
    const { store } = watchedStore();
    const owner = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'owner-1' };
    store.put(samplePod('b', 1, { labels: { app: 'etcd' }, ownerReferences: [owner] }));
    store.put(samplePod('a', 2, { labels: { app: 'etcd' } }));
    store.put(samplePod('c', 3, { labels: { app: 'other' }, namespace: 'elsewhere' }));
    const names = (index: string, key: string): string[] => {
      const [namespace, value = ''] = key.split('/');
      return store.by(index, namespace, value).map((pod) => pod.metadata.name);
    };
    expect(names('app', 'default/etcd')).toEqual(['a', 'b']);
    expect(names('app', 'elsewhere/other')).toEqual(['c']);
    expect(names('owner', 'default/owner-1')).toEqual(['b']);
    store.put(samplePod('b', 4, { labels: { app: 'new' } }));
    store.remove(samplePod('a', 5));
    expect(names('app', 'default/etcd')).toEqual([]);
    expect(names('app', 'default/new')).toEqual(['b']);
    expect(names('owner', 'default/owner-1')).toEqual([]);
    expect(() => store.by('nonsense', 'default', '')).toThrow('no index "nonsense"');
  });

  it('calls the other handlers after one throws, and reports the failure', () => {
    const failures: Failure[] = [];
    const store = new Store<Pod>({ onHandlerFailure: (failure) => failures.push(failure) });
    const changes: string[] = [];
    store.onChange(() => {
      throw new TypeError('no such thing');
    });
    store.onChange(({ object }) => changes.push(object.metadata.name));
    store.put(samplePod('a', 1));
    expect(changes).toEqual(['a']);
    expect(failures).toMatchObject([{ kind: 'bug', message: 'unexpected: no such thing' }]);
  });

  it('calls a late handler for existing objects, and an unsubscribed handler no more', () => {
    const { store } = watchedStore();
    store.put(samplePod('a', 1));
    const changes: string[] = [];
    const unsubscribe = store.onChange((change) => changes.push(textOf(change)));
    unsubscribe();
    store.put(samplePod('b', 2));
    expect(changes).toEqual(['added a@1 after nothing']);
  });

  it('holds the new state before handlers run', () => {
    const { store } = watchedStore();
    const seen: (string | undefined)[] = [];
    store.onChange(() => seen.push(store.get('default/a')?.metadata.resourceVersion));
    store.put(samplePod('a', 1));
    store.put(samplePod('a', 2));
    store.remove(samplePod('a', 3));
    expect(seen).toEqual(['1', '2', undefined]);
  });
});
