import { expect, it } from 'vitest';
import { writeManifest } from '../objectstore/manifest.ts';
import { isManifestKey, manifestKey, snapshotKeyOf } from '../objectstore/names.ts';
import type { ObjectStore } from '../objectstore/store.ts';
import { Failure } from '../std/failure.ts';
import { prune } from './prune.ts';

const start = Date.UTC(2026, 0, 1);
const uid = 'ours';

const manifestFor = (key: string, index: number): Buffer =>
  writeManifest({
    takenAt: new Date(start + index * 1000).toISOString(),
    snapshot: { key, size: 1, compression: 'none', plainSize: 1, sha256: 'ab'.repeat(32) },
    etcd: { version: '3.6.16', revision: '7', clusterId: 'a1', memberId: 'b2' },
    owner: { apiVersion: 'v1', kind: 'EtcdBackup', namespace: 'n', name: 'x', uid },
  });

/** A store with that many backups, which counts parallel reads. */
function storeWith(count: number, onRead: (index: number) => void = () => undefined) {
  const keys = Array.from({ length: count }, (_, i) => `p/${String(i).padStart(5, '0')}`);
  const seen = { reading: 0, mostAtOnce: 0, reads: 0 };
  const deleted: string[] = [];
  const modified = (key: string): Date => new Date(start + keys.indexOf(snapshotKeyOf(manifestKey(key))) * 1000);
  const store = {
    list: async function* () {
      for (const key of keys)
        for (const each of [key, manifestKey(key)]) yield { key: each, size: 1, modified: modified(key) };
    },
    get: async (key: string) => {
      seen.reads += 1;
      seen.mostAtOnce = Math.max(seen.mostAtOnce, ++seen.reading);
      await new Promise(setImmediate);
      seen.reading -= 1;
      const index = keys.indexOf(snapshotKeyOf(key));
      onRead(index);
      return { body: [manifestFor(snapshotKeyOf(key), index)] };
    },
    delete: async (key: string) => void deleted.push(key),
  } as unknown as ObjectStore;
  return { store, seen, deleted, keys };
}

const settings = { ownership: { path: 'p/x', below: 'p/', ownerUid: uid, ownerNamespace: 'n' }, policy: { count: 3 } };
const parts = (store: ObjectStore) => ({ store, now: new Date(start + 10 ** 9), signal: new AbortController().signal });

it('pruning reads manifests in parallel, and each once', async () => {
  const { store, seen, deleted, keys } = storeWith(500);
  expect(await prune(settings, parts(store))).toMatchObject({ kept: 3 });
  expect(seen.reads).toBe(500);
  expect(seen.mostAtOnce).toBeGreaterThanOrEqual(16);
  expect(seen.mostAtOnce).toBeLessThanOrEqual(32);
  expect(deleted.filter((key) => !isManifestKey(key)).toSorted()).toEqual(keys.slice(0, -3));
});

it('pruning deletes a manifest before its snapshot, the oldest first', async () => {
  const { store, deleted, keys } = storeWith(100);
  const stop = new AbortController();
  const slow = {
    ...store,
    delete: async (key: string, signal?: AbortSignal) => {
      signal?.throwIfAborted();
      deleted.push(key);
      if (deleted.length >= 60) stop.abort(new Error('it took too long'));
      await new Promise(setImmediate);
    },
  };
  await expect(prune(settings, { ...parts(slow), signal: stop.signal })).rejects.toThrow('it took too long');
  const snapshots = deleted.filter((key) => !isManifestKey(key));
  expect(deleted.length).toBeLessThan(100);
  for (const key of snapshots) expect(deleted.indexOf(manifestKey(key))).toBeLessThan(deleted.indexOf(key));
  expect(snapshots.every((key) => keys.indexOf(key) < 60)).toBe(true);
});

it('pruning deletes nothing if a manifest cannot be read, and stops reading', async () => {
  const { store, seen, deleted } = storeWith(500, (index) => {
    if (index === 7) throw new Failure('unreachable', 'no answer');
  });
  await expect(prune(settings, parts(store))).rejects.toThrow('no answer');
  expect(deleted).toEqual([]);
  expect(seen.reads).toBeLessThan(500);
});

it('pruning ignores a manifest that is gone', async () => {
  const { store } = storeWith(5, (index) => {
    if (index === 0) throw new Failure('not-found', 'not found');
  });
  expect(await prune(settings, parts(store))).toMatchObject({ kept: 3, deleted: ['p/00001'] });
});
