import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { parseObjectUrl } from '../objectstore/address.ts';
import { StoreFailure } from '../objectstore/failures.ts';
import { type SnapshotManifest, writeManifest } from '../objectstore/manifest.ts';
import type { ObjectStore } from '../objectstore/store.ts';
import { fetchSnapshot } from './fetch.ts';
import { Progress } from './progress.ts';

const place = mkdtempSync(join(tmpdir(), 'fetched-'));
afterAll(() => rmSync(place, { recursive: true }));
const to = join(place, 'snapshot.db');

/** A snapshot saved by etcdctl of that version. */
const savedBy = (version: string): Buffer =>
  gunzipSync(readFileSync(join(import.meta.dirname, '../etcd/fixtures', `etcd-${version}.db.gz`)));

const withHash = (database: Buffer): Buffer =>
  Buffer.concat([database, createHash('sha256').update(database).digest()]);

function manifestOf(snapshot: Buffer, etcd: Pick<SnapshotManifest['etcd'], 'version' | 'storageVersion'>): Buffer {
  const { byteLength: size } = snapshot;
  const sha256 = snapshot.subarray(-32).toString('hex');
  return writeManifest({
    takenAt: '2026-01-01T00:00:00Z',
    snapshot: { key: 'db', size, compression: 'none', plainSize: size, sha256 },
    etcd: { revision: '7', clusterId: 'a', memberId: 'b', ...etcd },
  });
}

function fetched(db: Buffer, more: { manifest?: Buffer; targetVersion?: string; to?: undefined; maxBytes?: number }) {
  const kept: Readonly<Record<string, Buffer | undefined>> = { db, 'db.manifest.json': more.manifest };
  const get = async (key: string) => {
    const whole = kept[key];
    if (whole === undefined)
      throw new StoreFailure({ what: 'read', place: 'p', identity: 'i' }, { trouble: 'no-object', detail: 'no' });
    return { key, size: whole.length, modified: new Date(), body: [whole] };
  };
  const parts = { store: { get } as unknown as ObjectStore, progress: new Progress(), signal: AbortSignal.any([]) };
  const address = parseObjectUrl('s3://bucket/db', '--url');
  const { targetVersion, maxBytes = 1e9 } = more;
  return fetchSnapshot({ address, maxBytes, targetVersion, ...('to' in more ? {} : { to }) }, parts);
}

describe('a snapshot saved by etcdctl, without a manifest,', () => {
  it('is refused if the target etcd is older than its storage version, and the error names both', async () => {
    await expect(fetched(savedBy('3.6.16'), { targetVersion: '3.5.35' })).rejects.toMatchObject({
      trouble: 'too-new',
      message: 'the snapshot needs etcd 3.6.0, but the target is etcd 3.5.35: restore into etcd 3.6.0 or newer',
    });
    await expect(fetched(savedBy('3.7.3'), { targetVersion: '3.6.16' })).rejects.toMatchObject({ trouble: 'too-new' });
  });

  it.each(['3.6.0', '3.6.16', '3.7.3'])('is accepted for etcd %s without warnings', async (targetVersion) => {
    const result = await fetched(savedBy('3.6.16'), { targetVersion });
    expect(result).toMatchObject({ storageVersion: '3.6.0', warnings: [] });
    expect(result).not.toHaveProperty('version');
    expect(existsSync(to)).toBe(true);
  });

  it('is accepted with a warning if it has no storage version, or is not written to a file', async () => {
    const unknown = {
      warnings: ['the etcd version of this snapshot is unknown: it has neither a manifest nor a storage version'],
    };
    expect(await fetched(savedBy('3.5.35'), { targetVersion: '3.4.31' })).toMatchObject(unknown);
    expect(await fetched(savedBy('3.7.3'), { targetVersion: '3.4.31', to: undefined })).toMatchObject(unknown);
  });

  it('is accepted with a warning if its hash matches but the database cannot be parsed', async () => {
    const result = await fetched(withHash(Buffer.alloc(8192, 7)), { targetVersion: '3.5.35' });
    expect(result).toMatchObject({
      warnings: [
        expect.stringContaining('the database cannot be read'),
        expect.stringContaining('etcd version of this snapshot is unknown'),
      ],
    });
  });

  it('is refused for its storage version, even if the manifest of another snapshot lies beside it', async () => {
    const manifest = manifestOf(savedBy('3.5.35'), { version: '3.5.35' });
    const result = fetched(savedBy('3.6.16'), { targetVersion: '3.5.35', manifest });
    await expect(result).rejects.toMatchObject({ trouble: 'too-new' });
  });
});

describe('a snapshot with its manifest', () => {
  it('is refused if the target is older than the version in the manifest', async () => {
    const manifest = manifestOf(savedBy('3.6.16'), { version: '3.6.16', storageVersion: '3.6.0' });
    await expect(fetched(savedBy('3.6.16'), { targetVersion: '3.5.35', manifest })).rejects.toMatchObject({
      message: 'the snapshot was made by etcd 3.6.16, but the target is etcd 3.5.35: restore into etcd 3.6.0 or newer',
    });
  });

  it('needs the storage version inside it, which may be newer than that of the manifest', async () => {
    const outdated = manifestOf(savedBy('3.6.16'), { version: '3.6.16', storageVersion: '3.5.0' });
    await expect(fetched(savedBy('3.6.16'), { targetVersion: '3.5.35', manifest: outdated })).rejects.toMatchObject({
      trouble: 'too-new',
    });
    expect(await fetched(savedBy('3.6.16'), { targetVersion: '3.6.16', manifest: outdated })).toMatchObject({
      version: '3.6.16',
      storageVersion: '3.6.0',
      warnings: [],
    });
  });
});

describe('a snapshot that must not be restored', () => {
  const changed = Buffer.from(savedBy('3.6.16'));
  changed.writeUInt8(changed.readUInt8(5000) ^ 1, 5000);

  it.each([
    { what: 'has a changed byte', db: changed, maxBytes: 1e9, trouble: 'damaged' },
    { what: 'ends early', db: savedBy('3.6.16').subarray(0, -4096), maxBytes: 1e9, trouble: 'damaged' },
    { what: 'is larger than the maximum', db: savedBy('3.6.16'), maxBytes: 10_000, trouble: 'too-large' },
  ])('is refused and leaves no file if it $what', async ({ db, maxBytes, trouble }) => {
    rmSync(to, { force: true });
    await expect(fetched(db, { maxBytes })).rejects.toMatchObject({ trouble });
    expect(readdirSync(place)).toEqual([]);
  });

  it('has no facts of a manifest that belongs to another snapshot', async () => {
    const manifest = manifestOf(savedBy('3.5.35'), { version: '3.5.35' });
    const result = await fetched(savedBy('3.6.16'), { targetVersion: '3.6.16', manifest });
    expect(result).not.toHaveProperty('version');
  });
});
