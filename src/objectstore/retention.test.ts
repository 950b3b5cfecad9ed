import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readManifest, type SnapshotManifest, writeManifest } from './manifest.ts';
import { datedKey, datedNameIn, manifestKey } from './names.ts';
import { type Backup, backupsIn, backupTimeOf, expiredAmong } from './retention.ts';

const path = 'dir/etcd.backup';
const at = (seconds: number): Date => new Date(Date.UTC(2026, 0, 1) + seconds * 1000);
const object = (key: string, size = 100, modified = at(0)) => ({ key, size, modified });
const manifestOf = (key: string, uid: string, size = 100): SnapshotManifest =>
  readManifest(
    writeManifest({
      takenAt: at(5).toISOString(),
      snapshot: { key, size, compression: 'none', plainSize: size, sha256: 'ab'.repeat(32) },
      etcd: { version: '3.6.16', revision: '7', clusterId: 'a1', memberId: 'b2' },
      owner: { apiVersion: 'v1', kind: 'EtcdBackup', namespace: 'n', name: 'x', uid },
    }).toString(),
  );

describe('the name of a periodic backup', () => {
  it('has the form of the original operator', () => {
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
    it(`has no ending like "${ending}"`, () => {
      expect(datedNameIn(path + ending, path)).toBeUndefined();
    });
  it('round-trips for every revision and time', () => {
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
  it('is refused with the invalid field', () => {
    expect(() => readManifest('{')).toThrow(/not JSON/);
    expect(() => readManifest('{"format":"other"}')).toThrow(/format/);
  });
});

describe('the backups of an owner in a store', () => {
  it('are found by dated name or by the owner in the manifest', () => {
    const dated = datedKey(path, { revision: 9n, takenAt: at(10) });
    const objects = [
      object(dated),
      object(path),
      object(manifestKey(path)),
      object(`${path}-of-another-owner`),
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

  it('are only those with the namespace of the owner, even if the UID matches', () => {
    const key = 'other/db';
    const found = (ownerNamespace: string) =>
      backupsIn([object(key)], new Map([[key, manifestOf(key, 'ours')]]), { path, ownerUid: 'ours', ownerNamespace });
    expect([found('n').length, found('evil').length]).toEqual([1, 0]);
  });

  it('are not good if they are shorter than the size in the manifest', () => {
    const found = backupsIn([object(path, 50)], new Map([[path, manifestOf(path, 'u')]]), { path, ownerUid: 'u' });
    expect(found).toMatchObject([{ isGood: false }]);
  });

  it('with a dated name are not good if they are shorter than the size in a manifest without an owner', () => {
    const key = datedKey(path, { revision: 9n, takenAt: at(10) });
    const { owner: _, ...manifest } = manifestOf(key, 'u');
    const found = (size: number) => backupsIn([object(key, size)], new Map([[key, manifest]]), { path });
    expect([found(50), found(manifest.snapshot.size)]).toMatchObject([[{ isGood: false }], [{ isGood: true }]]);
  });

  it('are ordered by time, not by revision', () => {
    const [older, newer] = [
      datedKey(path, { revision: 99n, takenAt: at(1) }),
      datedKey(path, { revision: 100n, takenAt: at(2) }),
    ];
    const found = backupsIn([object(older, 9, at(1)), object(newer, 9, at(2))], new Map(), { path });
    expect(found.map(({ key }) => key)).toEqual([newer, older]);
    expect(expiredAmong(found, { count: 1 }, { now: at(3) }).map(({ key }) => key)).toEqual([older]);
  });
});

/** Node clocks may be hours wrong; most are right. */
const skew = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: -20_000, max: 20_000 }));
const backupsWith = (skews: fc.Arbitrary<number>): fc.Arbitrary<readonly Backup[]> =>
  fc.array(fc.record({ age: fc.nat(1000), isGood: fc.boolean(), skews }), { maxLength: 30 }).map((some) => {
    const objects = some.map(({ age, skews: wrong }, i) => {
      const key = datedKey(path, { revision: BigInt(i), takenAt: at(wrong - age) });
      return { key, size: 100, modified: at(-age) };
    });
    return backupsIn(objects, new Map(), { path }).map((backup, i) => ({
      ...backup,
      isGood: some[i]?.isGood ?? true,
    }));
  });

describe('an expired backup', () => {
  const backups = backupsWith(fc.constant(0));
  const policy = fc.record({
    count: fc.option(fc.nat(40), { nil: undefined }),
    ageMillis: fc.option(fc.nat(1_200_000), { nil: undefined }),
  });
  const now = at(5);

  it('is never the newest good backup nor the one just made, with any node clock', () => {
    fc.assert(
      fc.property(backupsWith(skew), policy, skew, (all, keep, wrong) => {
        const [newest] = all;
        const expired = expiredAmong(all, keep, { now: at(wrong) });
        expect(expired).not.toContain(all.find(({ isGood }) => isGood));
        if (newest !== undefined) expect(expired).not.toContain(newest);
      }),
    );
  });

  it('is every backup beyond the number or the age, and no other', () => {
    fc.assert(
      fc.property(backups, policy, (all, keep) => {
        const expired = new Set(expiredAmong(all, keep, { now }));
        const [newest] = all;
        const stays = new Set([newest, all.find(({ isGood }) => isGood)]);
        const most = keep.count || Number.POSITIVE_INFINITY;
        const longest = keep.ageMillis || Number.POSITIVE_INFINITY;
        for (const [index, backup] of all.entries()) {
          const age = backupTimeOf(newest ?? backup) - backupTimeOf(backup);
          expect(expired.has(backup)).toBe(!stays.has(backup) && (index >= most || age > longest));
        }
      }),
    );
  });

  it('does not exist without limits', () => {
    fc.assert(
      fc.property(backups, (all) => {
        expect(expiredAmong(all, { count: 0 }, { now })).toEqual([]);
      }),
    );
  });

  const hour = 3600;
  const made = (takenAt: number, storedAt: number) => {
    const key = datedKey(path, { revision: BigInt(storedAt), takenAt: at(takenAt) });
    return { key, size: 100, modified: at(storedAt) };
  };
  const keptOf = (objects: readonly ReturnType<typeof made>[], keep: object, when: Date) => {
    const all = backupsIn(objects, new Map(), { path });
    const expired = expiredAmong(all, keep, { now: when });
    return all.filter((backup) => !expired.includes(backup)).map(({ key }) => key);
  };

  it('is not the last backup after one from a node with a clock two hours ahead', () => {
    const [ahead, last] = [made(12 * hour, 10 * hour), made(11 * hour, 11 * hour)];
    expect(keptOf([ahead, last], { count: 1 }, at(11 * hour))).toEqual([last.key]);
    expect(keptOf([ahead, last], { ageMillis: 30 * 60_000 }, at(11 * hour))).toEqual([last.key]);
  });

  it('is not the last backup on a volume, which has only the clock of its node', () => {
    const [ahead, last] = [made(12 * hour, 12 * hour), made(11 * hour, 11 * hour)];
    expect(keptOf([ahead, last], { count: 1 }, at(11 * hour))).toContain(last.key);
  });

  it('is not the last backup that the store received, even from a node with a clock two days behind', () => {
    const [before, last] = [made(99 * hour, 99 * hour), made(52 * hour, 100 * hour)];
    expect(keptOf([before, last], { count: 1 }, at(100 * hour))).toContain(last.key);
    const next = made(100 * hour, 99.5 * hour);
    expect(keptOf([before, next, last], { count: 1 }, at(100 * hour))).toContain(last.key);
  });

  it('is not too old only because the clock of the last node is ahead', () => {
    const two = [made(10 * hour, 10 * hour), made(13 * hour, 11 * hour)];
    expect(keptOf(two, { ageMillis: 2 * hour * 1000 }, at(13 * hour))).toHaveLength(2);
  });

  it('is chosen by the time taken if the objects were copied later', () => {
    const day = 24 * hour;
    const [newer, older] = [made(2 * day, 90 * day), made(day, 90 * day + 1)];
    expect(keptOf([newer, older, made(91 * day, 91 * day)], { count: 2 }, at(91 * day))).toContain(newer.key);
  });

  it('is never the object just made, if its key is known', () => {
    const all = backupsIn([made(1, 1), made(2, 2), made(3, 3)], new Map(), { path });
    const justMade = all.at(-1)?.key;
    expect(expiredAmong(all, { count: 1 }, { now: at(4), justMade }).map(({ key }) => key)).not.toContain(justMade);
  });
});
