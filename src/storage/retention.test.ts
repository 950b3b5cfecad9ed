import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Manifest, readManifest, writeManifest } from './manifest.ts';
import { datedKey, datedNameIn, manifestKey } from './names.ts';
import { type Backup, backupsIn, expiredAmong } from './retention.ts';

const path = 'dir/etcd.backup';
const at = (seconds: number): Date => new Date(Date.UTC(2026, 0, 1) + seconds * 1000);
const object = (key: string, size = 100) => ({ key, size, modified: at(0) });
const manifestOf = (key: string, uid: string, size = 100): Manifest =>
  readManifest(
    writeManifest({
      takenAt: at(5).toISOString(),
      snapshot: { key, size, compression: 'none', plainSize: size, sha256: 'ab'.repeat(32) },
      etcd: { version: '3.6.16', revision: '7', clusterId: 'a1', memberId: 'b2' },
      owner: { apiVersion: 'v1', kind: 'EtcdBackup', namespace: 'n', name: 'x', uid },
    }).toString(),
  );

describe('the name of a periodic backup', () => {
  it('has the form of the original', () => {
    const key = datedKey(path, { revision: 42n, takenAt: new Date('2026-03-04T05:06:07.890Z') });
    expect(key).toBe('dir/etcd.backup_v42_2026-03-04-05:06:07');
    expect(datedNameIn(key, path)).toEqual({ revision: 42n, takenAt: new Date('2026-03-04T05:06:07Z') });
  });
  const others = [
    '',
    '_v1',
    '_vx_2026-03-04-05:06:07',
    '_v1_2026-13-04-05:06:07',
    '_v1_2026-03-04-05:06:07.tmp',
    '2_v1_2026-03-04-05:06:07',
  ];
  for (const ending of others)
    it(`is not "${ending}"`, () => {
      expect(datedNameIn(path + ending, path)).toBeUndefined();
    });
  it('is a name for every revision and time', () => {
    const revision = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
    fc.assert(
      fc.property(revision, fc.integer({ min: 0, max: 4_000_000_000 }), (number, seconds) => {
        const name = { revision: number, takenAt: new Date(seconds * 1000) };
        expect(datedNameIn(datedKey(path, name), path)).toEqual(name);
      }),
    );
  });
});

describe('a manifest', () => {
  it('is told what is wrong with it', () => {
    expect(() => readManifest('{')).toThrow(/not JSON/);
    expect(() => readManifest('{"format":"other"}')).toThrow(/format/);
  });
});

describe('our backups in a store', () => {
  it('are those whose names or manifests say so', () => {
    const dated = datedKey(path, { revision: 9n, takenAt: at(10) });
    const objects = [
      object(dated),
      object(path),
      object(manifestKey(path)),
      object(`${path}-of-somebody-else`),
      object(`${path}2`),
      object(manifestKey(`${path}2`)),
    ];
    const manifests = new Map([
      [path, manifestOf(path, 'ours')],
      [`${path}2`, manifestOf(`${path}2`, 'theirs')],
    ]);
    const found = backupsIn(objects, manifests, { path, ownerUid: 'ours' });
    expect(found.map(({ keys }) => keys)).toEqual([[dated], [path, manifestKey(path)]]);
  });

  it('are not good when they are shorter than they should be', () => {
    const found = backupsIn([object(path, 50)], new Map([[path, manifestOf(path, 'u')]]), { path, ownerUid: 'u' });
    expect(found).toMatchObject([{ isGood: false }]);
  });

  it('are ordered by time, whatever their revisions are', () => {
    const [older, newer] = [
      datedKey(path, { revision: 99n, takenAt: at(1) }),
      datedKey(path, { revision: 100n, takenAt: at(2) }),
    ];
    const found = backupsIn([object(older), object(newer)], new Map(), { path });
    expect(found.map(({ key }) => key)).toEqual([newer, older]);
    expect(expiredAmong(found, { count: 1 }, at(3)).map(({ key }) => key)).toEqual([older]);
  });
});

describe('what is pruned', () => {
  const backups = fc
    .array(fc.record({ age: fc.nat(1000), isGood: fc.boolean() }), { maxLength: 30 })
    .map((some) =>
      some
        .map(({ age, isGood }, i): Backup => ({ key: `${i}`, keys: [`${i}`], takenAt: at(-age), isGood }))
        .sort((a, b) => b.takenAt.getTime() - a.takenAt.getTime()),
    );
  const policy = fc.record({
    count: fc.option(fc.nat(40), { nil: undefined }),
    ageMillis: fc.option(fc.nat(1_200_000), { nil: undefined }),
  });

  it('is never the newest good one', () => {
    fc.assert(
      fc.property(backups, policy, (all, keep) => {
        const newestGood = all.find(({ isGood }) => isGood);
        expect(expiredAmong(all, keep, at(0))).not.toContain(newestGood);
      }),
    );
  });

  it('is all that is beyond the number or the age, and nothing else', () => {
    fc.assert(
      fc.property(backups, policy, (all, keep) => {
        const expired = new Set(expiredAmong(all, keep, at(0)));
        const newestGood = all.find(({ isGood }) => isGood);
        for (const [index, backup] of all.entries()) {
          const beyond = Boolean(keep.count) && index >= (keep.count ?? 0);
          const tooOld = Boolean(keep.ageMillis) && at(0).getTime() - backup.takenAt.getTime() > (keep.ageMillis ?? 0);
          expect(expired.has(backup)).toBe(backup !== newestGood && (beyond || tooOld));
        }
      }),
    );
  });

  it('is nothing when nothing is said', () => {
    fc.assert(
      fc.property(backups, (all) => {
        expect(expiredAmong(all, { count: 0 }, at(0))).toEqual([]);
      }),
    );
  });
});
