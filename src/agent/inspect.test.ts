import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parseObjectUrl } from '../objectstore/address.ts';
import { StoreFailure } from '../objectstore/failures.ts';
import { writeManifest } from '../objectstore/manifest.ts';
import type { ObjectStore, StoreTrouble } from '../objectstore/store.ts';
import { inspectSnapshot } from './inspect.ts';
import { Progress } from './progress.ts';

/** Bytes that begin like a database of etcd. */
const database = (): Buffer => {
  const bytes = Buffer.alloc(4096, 1);
  bytes.writeUInt32LE(0xed0cdaed, 16);
  return bytes;
};
const manifest = writeManifest({
  takenAt: '2026-01-01T00:00:00Z',
  snapshot: { key: 'db', size: 4096, compression: 'none', plainSize: 4096, sha256: '0'.repeat(64) },
  etcd: { version: '3.6.16', revision: '7', clusterId: 'a', memberId: 'b' },
  cluster: { apiVersion: 'g/v1', kind: 'EtcdCluster', namespace: 'n', name: 'db', spec: { size: 3 } },
});

interface Kept {
  readonly [key: string]: Buffer;
}

/** Bytes read from the store. */
let read = 0;

function storeOf(kept: Kept, trouble: StoreTrouble = 'no-object'): ObjectStore {
  const missing = new StoreFailure({ what: 'read', place: 'p', identity: 'i' }, { trouble, detail: 'no' });
  const get = async (key: string) => {
    const whole = kept[key];
    if (whole === undefined) throw missing;
    const body = async function* () {
      for (let at = 0; at < whole.length; at += 10) {
        const part = whole.subarray(at, at + 10);
        read += part.length;
        yield part;
      }
    };
    return { key, size: whole.length, modified: new Date(), body: body() };
  };
  const list = async function* () {
    for (const [key, { length }] of Object.entries(kept)) yield { key, size: length, modified: new Date() };
  };
  return { get, list } as unknown as ObjectStore;
}

const inspect = (kept: Kept, more: object = {}, missing?: StoreTrouble) => {
  read = 0;
  const address = parseObjectUrl('s3://bucket/db', '--url');
  const parts = { store: storeOf(kept, missing), progress: new Progress(), signal: new AbortController().signal };
  return inspectSnapshot({ address, ...more }, parts);
};

describe('inspecting a snapshot', () => {
  it('ignores a manifest with another size', async () => {
    const larger = Buffer.concat([database(), database()]);
    const found = await inspect(
      { db: larger, 'db.manifest.json': manifest },
      { targetVersion: '3.5.0', reportCluster: true },
    );
    expect(found).toMatchObject({
      size: 8192,
      warnings: [expect.stringContaining('belongs to another snapshot'), expect.anything()],
    });
    expect(found).not.toHaveProperty('version');
    expect(found).not.toHaveProperty('cluster');
  });

  it('finds an object of the original improbable operator, which may have a "/" before its key', async () => {
    expect(await inspect({ '/db': database() })).toMatchObject({ size: 4096, compression: 'none' });
    const longer = Buffer.concat([database(), database()]);
    expect(await inspect({ '/db': database(), db: longer })).toMatchObject({ size: 8192 });
    const address = parseObjectUrl('azblob://bucket/db', '--url');
    await expect(inspect({ '/db': database() }, { address })).rejects.toMatchObject({ trouble: 'no-object' });
  });

  it('returns the facts of the manifest, and reads only the start of the object', async () => {
    const found = await inspect({ db: database(), 'db.manifest.json': manifest }, { targetVersion: '3.6.0' });
    expect(found).toMatchObject({ size: 4096, compression: 'none', version: '3.6.16', revision: '7', warnings: [] });
    expect(found).not.toHaveProperty('cluster');
    expect(read).toBeLessThan(manifest.length + 100);
  });

  it('returns the cluster spec of the manifest on request', async () => {
    expect(await inspect({ db: database(), 'db.manifest.json': manifest }, { reportCluster: true })).toHaveProperty(
      'cluster',
    );
  });

  it('accepts a compressed snapshot without a manifest', async () => {
    const found = await inspect({ db: gzipSync(database()) });
    expect(found).toMatchObject({
      compression: 'gzip',
      warnings: ['the etcd version of this snapshot is unknown: it has no manifest'],
    });
  });

  it('accepts a snapshot if the credentials permit reading only that object', async () => {
    const found = await inspect({ db: database() }, {}, 'denied');
    expect(found).toMatchObject({
      size: 4096,
      warnings: [
        expect.stringContaining('is ignored'),
        'the etcd version of this snapshot is unknown: it has no manifest',
      ],
    });
    await expect(inspect({}, {}, 'denied')).rejects.toMatchObject({ trouble: 'denied' });
  });

  it('refuses a snapshot of a newer etcd', async () => {
    const result = inspect({ db: database(), 'db.manifest.json': manifest }, { targetVersion: '3.5.35' });
    await expect(result).rejects.toMatchObject({ trouble: 'too-new' });
  });

  it.each<[string, Buffer, string]>([
    ['an empty object', Buffer.alloc(0), 'it is empty'],
    ['a short object', Buffer.from('hello'), 'it has only 5 bytes'],
    ['an HTML page', Buffer.from(`<!DOCTYPE html><title>503</title>${' '.repeat(100)}`), 'does not begin like'],
    ['a compressed file of another kind', gzipSync(Buffer.alloc(1000)), 'does not begin like'],
    ['a broken archive', Buffer.from(`1f8b${'00'.repeat(50)}`, 'hex'), 'cannot be decompressed'],
  ])('refuses %s', async (_title, db, problem) => {
    await expect(inspect({ db })).rejects.toMatchObject({
      trouble: 'damaged',
      message: expect.stringContaining(problem),
    });
  });

  it('names similar objects if the object is missing', async () => {
    await expect(inspect({ 'db-1': database() })).rejects.toThrow('objects that begin with "db": db-1');
  });
});
