import { expect, it } from 'vitest';
import { Failure } from '../std/failure.ts';
import { writeManifest } from '../storage/manifest.ts';
import type { ObjectStore } from '../storage/store.ts';
import { doubtsOfReplacing } from './replaced.ts';

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
const doubts = (manifest: Buffer | Failure, saved: { clusterId: string; cluster?: ReturnType<typeof cluster> }) =>
  doubtsOfReplacing({ cluster: undefined, ...saved }, { store: storeOf(manifest), key: 'k', signal });

it("tells of a backup that takes the place of another cluster's", async () => {
  expect(await doubts(former('theirs'), { clusterId: 'c3', cluster: cluster('ours') })).toEqual([
    '"k" was a backup of EtcdCluster "theirs" in "n", and is one of another cluster now: give each a name of its own',
  ]);
  expect(await doubts(former(), { clusterId: 'c3' })).toEqual([expect.stringContaining('of etcd cluster a1')]);
});

it('says nothing of the same cluster, though it was restored meanwhile', async () => {
  expect(await doubts(former(), { clusterId: 'a1' })).toEqual([]);
  expect(await doubts(former('ours'), { clusterId: 'c3', cluster: cluster('ours') })).toEqual([]);
});

it('says nothing where there was none, or where it may not look', async () => {
  expect(await doubts(new Failure('not-found', 'none'), { clusterId: 'c3' })).toEqual([]);
  expect(await doubts(new Failure('forbidden', 'no'), { clusterId: 'c3' })).toEqual([]);
  expect(await doubts(Buffer.from('{}'), { clusterId: 'c3' })).toEqual([]);
});
