import { describe, expect, it } from 'vitest';
import { samplePod } from '../../test/support/sample-objects.ts';
import type { Pod } from '../kube/object.ts';
import type { Failure } from '../std/failure.ts';
import { byLabel, byOwner, type Change, Store } from './store.ts';

function watchedStore(): { store: Store<Pod>; heard: string[]; failures: Failure[] } {
  const failures: Failure[] = [];
  const heard: string[] = [];
  const store = new Store<Pod>({
    indexes: { app: byLabel('app'), owner: byOwner },
    onHandlerFailure: (failure) => failures.push(failure),
  });
  store.onChange((change) => heard.push(told(change)));
  return { store, heard, failures };
}

const told = ({ type, object, old }: Change<Pod>): string =>
  `${type} ${object.metadata.name}@${object.metadata.resourceVersion} after ${old?.metadata.resourceVersion ?? 'nothing'}`;

describe('the store', () => {
  it('holds what it was given, and tells of it', () => {
    const { store, heard } = watchedStore();
    store.replace([samplePod('a', 1), samplePod('b', 2)], '5');
    store.put(samplePod('a', 6));
    store.remove(samplePod('b', 7));
    expect(heard).toEqual([
      'added a@1 after nothing',
      'added b@2 after nothing',
      'updated a@6 after 1',
      'deleted b@7 after 2',
    ]);
    expect(store.get('default/a')).toEqual(samplePod('a', 6));
    expect(store.get('default/b')).toBeUndefined();
    expect(store.versionIn(undefined)).toBe('7');
  });

  it('tells after a list only what is different', () => {
    const { store, heard } = watchedStore();
    store.replace([samplePod('a', 1), samplePod('b', 2), samplePod('c', 3)], '5');
    heard.length = 0;
    store.replace([samplePod('a', 1), samplePod('b', 8), samplePod('d', 9)], '10');
    expect(heard).toEqual(['deleted c@3 after 3', 'updated b@8 after 2', 'added d@9 after nothing']);
    expect(store.versionIn(undefined)).toBe('10');
  });

  it('tells of a pod that took the name of another as two pods', () => {
    const { store, heard } = watchedStore();
    store.put(samplePod('a', 1));
    store.put(samplePod('a', 9, { uid: 'another' }));
    store.replace([samplePod('a', 12, { uid: 'a third' })], '12');
    expect(heard).toEqual([
      'added a@1 after nothing',
      'deleted a@1 after 1',
      'added a@9 after nothing',
      'deleted a@9 after 9',
      'added a@12 after nothing',
    ]);
  });

  it('does not go back to an older state of an object, except by a list', () => {
    const { store, heard } = watchedStore();
    store.put(samplePod('a', 10));
    store.put(samplePod('a', 9));
    expect(store.get('default/a')?.metadata.resourceVersion).toBe('10');
    expect(store.versionIn(undefined)).toBe('10');
    expect(heard).toHaveLength(1);
    store.replace([samplePod('a', 3)], '4');
    expect(store.get('default/a')?.metadata.resourceVersion).toBe('3');
    expect(store.versionIn(undefined)).toBe('4');
  });

  it('finds objects of a namespace by label and by owner, as they are now', () => {
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
    expect(() => store.by('nonsense', 'default', '')).toThrow('there is no index "nonsense"');
  });

  it('goes on telling the others when a handler throws, and says so', () => {
    const failures: Failure[] = [];
    const store = new Store<Pod>({ onHandlerFailure: (failure) => failures.push(failure) });
    const heard: string[] = [];
    store.onChange(() => {
      throw new TypeError('no such thing');
    });
    store.onChange(({ object }) => heard.push(object.metadata.name));
    store.put(samplePod('a', 1));
    expect(heard).toEqual(['a']);
    expect(failures).toMatchObject([{ kind: 'bug', message: 'unexpected: no such thing' }]);
  });

  it('tells one who comes late of what is there, and one who left of nothing more', () => {
    const { store } = watchedStore();
    store.put(samplePod('a', 1));
    const heard: string[] = [];
    const leave = store.onChange((change) => heard.push(told(change)));
    leave();
    store.put(samplePod('b', 2));
    expect(heard).toEqual(['added a@1 after nothing']);
  });

  it('has the change in place when it tells of it', () => {
    const { store } = watchedStore();
    const seen: (string | undefined)[] = [];
    store.onChange(() => seen.push(store.get('default/a')?.metadata.resourceVersion));
    store.put(samplePod('a', 1));
    store.put(samplePod('a', 2));
    store.remove(samplePod('a', 3));
    expect(seen).toEqual(['1', '2', undefined]);
  });
});
