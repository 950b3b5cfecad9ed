import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parseObjectUrl } from '../storage/address.ts';
import { StoreFailure } from '../storage/failures.ts';
import { writeManifest } from '../storage/manifest.ts';
import type { ObjectStore, StoreTrouble } from '../storage/store.ts';
import { lookAtSnapshot } from './look.ts';
import { Progress } from './progress.ts';

/** A database of etcd, as far as its beginning tells. */
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

/** How many bytes of an object were asked for. */
let read = 0;

function storeOf(kept: Kept, trouble: StoreTrouble = 'no-object'): ObjectStore {
  const missing = new StoreFailure({ what: 'read', place: 'p', identity: 'i' }, { trouble, says: 'no' });
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

const look = (kept: Kept, more: object = {}, missing?: StoreTrouble) => {
  read = 0;
  const address = parseObjectUrl('s3://bucket/db', '--url');
  const parts = { store: storeOf(kept, missing), progress: new Progress(), signal: new AbortController().signal };
  return lookAtSnapshot({ address, ...more }, parts);
};

describe('looking at a snapshot', () => {
  it('does not believe a manifest of another size, whatever that says', async () => {
    const larger = Buffer.concat([database(), database()]);
    const found = await look(
      { db: larger, 'db.manifest.json': manifest },
      { targetVersion: '3.5.0', tellCluster: true },
    );
    expect(found).toMatchObject({
      size: 8192,
      warnings: [expect.stringContaining('is of another snapshot'), expect.anything()],
    });
    expect(found).not.toHaveProperty('version');
    expect(found).not.toHaveProperty('cluster');
  });

  it('finds what the original of the second API has stored, which may have a "/" before its key', async () => {
    expect(await look({ '/db': database() })).toMatchObject({ size: 4096, compression: 'none' });
    const longer = Buffer.concat([database(), database()]);
    expect(await look({ '/db': database(), db: longer })).toMatchObject({ size: 8192 });
    const address = parseObjectUrl('azblob://bucket/db', '--url');
    await expect(look({ '/db': database() }, { address })).rejects.toMatchObject({ trouble: 'no-object' });
  });

  it('says what its manifest says, and reads no more than its beginning', async () => {
    const found = await look({ db: database(), 'db.manifest.json': manifest }, { targetVersion: '3.6.0' });
    expect(found).toMatchObject({ size: 4096, compression: 'none', version: '3.6.16', revision: '7', warnings: [] });
    expect(found).not.toHaveProperty('cluster');
    expect(read).toBeLessThan(manifest.length + 100);
  });

  it('says what the cluster was, where it is asked', async () => {
    expect(await look({ db: database(), 'db.manifest.json': manifest }, { tellCluster: true })).toHaveProperty(
      'cluster',
    );
  });

  it('takes what is packed, and what somebody else made', async () => {
    const found = await look({ db: gzipSync(database()) });
    expect(found).toMatchObject({ compression: 'gzip', warnings: ['no manifest tells which etcd made this snapshot'] });
  });

  it('takes what somebody else made, of whoever may read that object and nothing beside it', async () => {
    const found = await look({ db: database() }, {}, 'denied');
    expect(found).toMatchObject({
      size: 4096,
      warnings: [expect.stringContaining('is left aside'), 'no manifest tells which etcd made this snapshot'],
    });
    await expect(look({}, {}, 'denied')).rejects.toMatchObject({ trouble: 'denied' });
  });

  it('refuses what a newer etcd made', async () => {
    const asked = look({ db: database(), 'db.manifest.json': manifest }, { targetVersion: '3.5.35' });
    await expect(asked).rejects.toMatchObject({ trouble: 'too-new' });
  });

  it.each<[string, Buffer, string]>([
    ['empty', Buffer.alloc(0), 'it is empty'],
    ['short', Buffer.from('hello'), 'it has only 5 bytes'],
    ['a page that says so', Buffer.from(`<!DOCTYPE html><title>503</title>${' '.repeat(100)}`), 'does not begin as'],
    ['another thing, packed', gzipSync(Buffer.alloc(1000)), 'does not begin as'],
    ['a broken archive', Buffer.from(`1f8b${'00'.repeat(50)}`, 'hex'), 'cannot be unpacked'],
  ])('refuses what is %s', async (_title, db, says) => {
    await expect(look({ db })).rejects.toMatchObject({ trouble: 'damaged', message: expect.stringContaining(says) });
  });

  it('names what there is, where it is not there', async () => {
    await expect(look({ 'db-1': database() })).rejects.toThrow('what begins with "db" there: db-1');
  });
});
