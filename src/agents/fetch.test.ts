import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { parseObjectUrl } from '../storage/address.ts';
import { StoreFailure } from '../storage/failures.ts';
import { type Manifest, writeManifest } from '../storage/manifest.ts';
import type { ObjectStore } from '../storage/store.ts';
import { fetchSnapshot } from './fetch.ts';
import { Progress } from './progress.ts';

const place = mkdtempSync(join(tmpdir(), 'fetched-'));
afterAll(() => rmSync(place, { recursive: true }));
const to = join(place, 'snapshot.db');

/** What etcdctl of that version saved. */
const savedBy = (version: string): Buffer =>
  gunzipSync(readFileSync(join(import.meta.dirname, '../etcd/fixtures', `etcd-${version}.db.gz`)));

const withHash = (database: Buffer): Buffer =>
  Buffer.concat([database, createHash('sha256').update(database).digest()]);

function manifestOf(snapshot: Buffer, etcd: Pick<Manifest['etcd'], 'version' | 'storageVersion'>): Buffer {
  const { byteLength: size } = snapshot;
  const sha256 = snapshot.subarray(-32).toString('hex');
  return writeManifest({
    takenAt: '2026-01-01T00:00:00Z',
    snapshot: { key: 'db', size, compression: 'none', plainSize: size, sha256 },
    etcd: { revision: '7', clusterId: 'a', memberId: 'b', ...etcd },
  });
}

function fetched(db: Buffer, more: { manifest?: Buffer; targetVersion?: string; to?: undefined }) {
  const kept: Readonly<Record<string, Buffer | undefined>> = { db, 'db.manifest.json': more.manifest };
  const get = async (key: string) => {
    const whole = kept[key];
    if (whole === undefined)
      throw new StoreFailure({ what: 'read', place: 'p', identity: 'i' }, { trouble: 'no-object', says: 'no' });
    return { key, size: whole.length, modified: new Date(), body: [whole] };
  };
  const parts = { store: { get } as unknown as ObjectStore, progress: new Progress(), signal: AbortSignal.any([]) };
  const address = parseObjectUrl('s3://bucket/db', '--url');
  const { targetVersion } = more;
  return fetchSnapshot({ address, maxBytes: 1e9, targetVersion, ...('to' in more ? {} : { to }) }, parts);
}

describe('a snapshot that etcdctl saved', () => {
  it('is refused for an etcd that is older than it says, with both versions', async () => {
    await expect(fetched(savedBy('3.6.16'), { targetVersion: '3.5.35' })).rejects.toMatchObject({
      trouble: 'too-new',
      message: 'the snapshot needs etcd 3.6.0, and etcd 3.5.35 is older: restore into 3.6.0 or newer',
    });
    await expect(fetched(savedBy('3.7.3'), { targetVersion: '3.6.16' })).rejects.toMatchObject({ trouble: 'too-new' });
  });

  it.each(['3.6.0', '3.6.16', '3.7.3'])('is taken for etcd %s, and nothing is in doubt', async (targetVersion) => {
    const result = await fetched(savedBy('3.6.16'), { targetVersion });
    expect(result).toMatchObject({ storageVersion: '3.6.0', warnings: [] });
    expect(result).not.toHaveProperty('version');
    expect(existsSync(to)).toBe(true);
  });

  it('is taken with a warning where it says nothing, or is not kept to be asked', async () => {
    const doubt = { warnings: ['nothing tells which etcd made this snapshot'] };
    expect(await fetched(savedBy('3.5.35'), { targetVersion: '3.4.31' })).toMatchObject(doubt);
    expect(await fetched(savedBy('3.7.3'), { targetVersion: '3.4.31', to: undefined })).toMatchObject(doubt);
  });

  it('is taken with a warning where it is whole, and yet nobody can make it out', async () => {
    const result = await fetched(withHash(Buffer.alloc(8192, 7)), { targetVersion: '3.5.35' });
    expect(result).toMatchObject({
      warnings: [expect.stringContaining('the database cannot be read'), expect.stringContaining('nothing tells')],
    });
  });

  it('is refused by what it says itself, although a manifest of another lies beside it', async () => {
    const manifest = manifestOf(savedBy('3.5.35'), { version: '3.5.35' });
    const asked = fetched(savedBy('3.6.16'), { targetVersion: '3.5.35', manifest });
    await expect(asked).rejects.toMatchObject({ trouble: 'too-new' });
  });
});

describe('a snapshot with its manifest', () => {
  it('is refused in the words of the manifest', async () => {
    const manifest = manifestOf(savedBy('3.6.16'), { version: '3.6.16', storageVersion: '3.6.0' });
    await expect(fetched(savedBy('3.6.16'), { targetVersion: '3.5.35', manifest })).rejects.toMatchObject({
      message: 'the snapshot was made by etcd 3.6.16, and etcd 3.5.35 is older: restore into 3.6.0 or newer',
    });
  });

  it('needs what it says itself: etcd may have gone on since it was asked for the manifest', async () => {
    const early = manifestOf(savedBy('3.6.16'), { version: '3.6.16', storageVersion: '3.5.0' });
    await expect(fetched(savedBy('3.6.16'), { targetVersion: '3.5.35', manifest: early })).rejects.toMatchObject({
      trouble: 'too-new',
    });
    expect(await fetched(savedBy('3.6.16'), { targetVersion: '3.6.16', manifest: early })).toMatchObject({
      version: '3.6.16',
      storageVersion: '3.6.0',
      warnings: [],
    });
  });
});
