import { expect, it } from 'vitest';
import { writeManifest } from '../objectstore/manifest.ts';
import type { ObjectStore } from '../objectstore/store.ts';
import { Failure } from '../std/failure.ts';
import { replacementWarnings } from './replaced-backup.ts';

const { signal } = new AbortController();
const cluster = (name: string) => ({ apiVersion: 'v1', kind: 'EtcdCluster', namespace: 'n', name, spec: {} });
const former = (name?: string): Buffer =>
  writeManifest({
    takenAt: '2026-01-01T00:00:00.000Z',
    snapshot: { key: 'k', size: 1, compression: 'none', plainSize: 1, sha256: 'ab'.repeat(32) },
    etcd: { version: '3.6.16', revision: '7', clusterId: 'a1', memberId: 'b2' },
    ...(name === undefined ? {} : { cluster: cluster(name) }),
  });
const storeOf = (manifest: Buffer | Failure): ObjectStore =>
  ({
    get: async () => {
      if (manifest instanceof Failure) throw manifest;
      return { size: manifest.byteLength, body: [manifest] };
    },
  }) as unknown as ObjectStore;
const warningsFor = (manifest: Buffer | Failure, saved: { clusterId: string; cluster?: ReturnType<typeof cluster> }) =>
  replacementWarnings({ cluster: undefined, ...saved }, { store: storeOf(manifest), key: 'k', signal });

it('a backup that overwrites a backup of another cluster has a warning', async () => {
  expect(await warningsFor(former('theirs'), { clusterId: 'c3', cluster: cluster('ours') })).toEqual([
    'object "k" was a backup of EtcdCluster "theirs" in "n" and is overwritten by a backup of another cluster: use a different URL for each cluster',
  ]);
  expect(await warningsFor(former(), { clusterId: 'c3' })).toEqual([expect.stringContaining('of etcd cluster a1')]);
});

it('a backup that overwrites one of the same cluster has no warning, even after a restore', async () => {
  expect(await warningsFor(former(), { clusterId: 'a1' })).toEqual([]);
  expect(await warningsFor(former('ours'), { clusterId: 'c3', cluster: cluster('ours') })).toEqual([]);
});

it('a backup has no warning if there is no readable manifest of an earlier backup', async () => {
  expect(await warningsFor(new Failure('not-found', 'none'), { clusterId: 'c3' })).toEqual([]);
  expect(await warningsFor(new Failure('forbidden', 'no'), { clusterId: 'c3' })).toEqual([]);
  expect(await warningsFor(Buffer.from('{}'), { clusterId: 'c3' })).toEqual([]);
});
