import { describe, expect, it } from 'vitest';
import { aWorld, withIntent } from '../../../test/support/worlds.ts';
import type { ClusterWorld } from '../../core/model/cluster.ts';
import { coreos } from '../../dialects/coreos-v1beta2/dialect.ts';
import { Failure } from '../../std/failure.ts';
import type { Deed } from './deed.ts';
import { lookAtSafeguard, makeBackup } from './safeguard.ts';

const now = new Date('2026-01-01T12:00:00Z');
const raw = {
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdCluster',
  metadata: { name: 'db', namespace: 'default', uid: 'u' },
  spec: { size: 3, version: '3.6.16', backupBeforeUpgrade: { like: 'hourly' } },
};
const upgrading = aWorld(withIntent({ version: '3.6.16' }));

const like = { storageType: 'S3', s3: { path: 'bucket/etcd', awsSecret: 'aws' }, backupPolicy: { maxBackups: 3 } };
/** As the API server gives it back. */
const madeAfter = (another: object): unknown =>
  JSON.parse(
    JSON.stringify(
      coreos.safeguards?.specLike(another, { namespace: 'default', cluster: 'db', version: '3.6.16' }) ?? {},
    ),
  );

const heldUp = (reason: string) => ({
  ...{ succeeded: false, Reason: 'Secret "aws" is not there' },
  conditions: [{ type: 'Progressing', status: 'True', reason }],
});

const backup = (status: object, minutesAgo: number, owner = 'u'): object => ({
  spec: madeAfter(like),
  metadata: {
    creationTimestamp: new Date(now.getTime() - minutesAgo * 60_000).toISOString(),
    ownerReferences: [{ uid: owner }],
  },
  status,
});

const notThere = new Failure('not-found', 'no');

interface Given {
  readonly world?: ClusterWorld;
  readonly another?: object;
}

/** `another` is the one after whose likeness it is made. */
async function seen(found: object, { world = upgrading, another }: Given = {}): Promise<unknown> {
  const read = coreos.read(raw);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const get = (_: unknown, { name }: { readonly name: string }): Promise<never> => {
    const answer = name === 'hourly' ? (another ?? { spec: like }) : found;
    return answer instanceof Failure ? Promise.reject(answer) : (Promise.resolve(answer) as Promise<never>);
  };
  return lookAtSafeguard(read.value, world, { client: { get }, dialect: coreos, now: () => now });
}

describe('the backup before an upgrade', () => {
  it('is none while no other minor is next', async () => {
    expect(await seen(new Failure('bug', 'nobody asks'), { world: aWorld() })).toBeUndefined();
  });

  it.each([
    ['missing', notThere, ''],
    ['under-way', backup({}, 1), ''],
    ['good', backup({ succeeded: true }, 60), ''],
    ['stale', backup({ succeeded: true }, 60 * 25), ''],
    [
      'failed',
      backup({ succeeded: false, Reason: 'no bucket', lastScheduleTime: '2026-01-01T11:59:00Z' }, 1),
      'no bucket',
    ],
    [
      'stale',
      backup({ succeeded: false, Reason: 'no bucket', lastScheduleTime: '2026-01-01T11:55:00Z' }, 5),
      'no bucket',
    ],
    ['failed', backup({ succeeded: true }, 1, 'another'), 'it is not of this cluster: delete or rename it'],
    ['failed', new Failure('forbidden', 'may not get etcdbackups'), 'may not get etcdbackups'],
  ])('is %s: %j', async (state, found, why) => {
    expect(await seen(found)).toEqual({ name: 'db-before-3.6.16', state, why });
  });

  it.each(['BackupBlocked', 'BadSpec'])(
    'that cannot begin (%s) is told, then has failed, then is made again',
    async (reason) => {
      const why = 'Secret "aws" is not there';
      const after = (minutes: number) => seen(backup(heldUp(reason), minutes));
      expect(await after(1)).toMatchObject({ state: 'under-way', why });
      expect(await after(3)).toMatchObject({ state: 'failed', why });
      expect(await after(5)).toMatchObject({ state: 'stale', why });
    },
  );

  it('is made again as soon as what it was made after is corrected, unless it is under way or good', async () => {
    const another = { spec: { ...like, s3: { path: 'bucket/etcd', awsSecret: 'the-right-one' } } };
    const state = async (status: object, minutes = 1) => seen(backup(status, minutes), { another });
    const failed = { succeeded: false, Reason: 'no bucket', lastScheduleTime: '2026-01-01T11:59:00Z' };
    for (const status of [heldUp('BackupBlocked'), heldUp('BadSpec'), failed])
      expect(await state(status)).toMatchObject({ state: 'stale' });
    expect(await state(heldUp('BackupBlocked'), 0.1)).toMatchObject({ state: 'under-way' });
    expect(await state({ succeeded: true }, 60)).toMatchObject({ state: 'good' });
    expect(await state({})).toMatchObject({ state: 'under-way' });
  });

  it('is told to have failed where there is none after whose likeness it could be made', async () => {
    for (const found of [notThere, backup({ succeeded: true }, 60 * 25)])
      expect(await seen(found, { another: notThere })).toMatchObject({
        state: 'failed',
        why: expect.stringContaining('spec.backupBeforeUpgrade.like: there is no EtcdBackup hourly'),
      });
  });

  it('lets other trouble be other trouble', async () => {
    await expect(seen(new Failure('unreachable', 'no API server'))).rejects.toThrow('no API server');
  });
});

describe('making the backup before an upgrade', () => {
  const name = 'db-before-3.6.16';

  /** The writes that follow when this one has the name by then. */
  async function writesBeside(owner: string): Promise<readonly unknown[]> {
    const read = coreos.read(raw);
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    const writes: unknown[] = [];
    const former = { spec: {}, metadata: { name, uid: 'b', ownerReferences: [{ uid: owner }] } };
    const writer = {
      remove: async (
        _: unknown,
        at: { readonly name: string },
        { preconditions }: { readonly preconditions?: object },
      ) => void writes.push({ removed: at.name, ...preconditions }),
      create: async (_: unknown, { metadata }: { readonly metadata: { readonly name: string } }) =>
        void writes.push({ created: metadata.name }),
    };
    const get = async (_: unknown, at: { readonly name: string }) =>
      at.name === name ? former : { spec: like, metadata: {} };
    const deed = {
      ...{ blueprint: read.value.blueprint, writer, observed: { backupBeforeUpgrade: 'hourly' } },
      tools: { dialect: coreos, client: { get } },
    } as unknown as Deed;
    await makeBackup({ kind: 'make-backup', name, version: '3.6.16' }, deed).catch((thrown: unknown) => {
      writes.push(Failure.from(thrown).kind);
    });
    return writes;
  }

  it('deletes the one that is of no use any more by its uid', async () => {
    expect(await writesBeside('u')).toEqual([{ removed: name, uid: 'b' }, { created: name }]);
  });

  it('deletes none that is not of this cluster', async () => {
    expect(await writesBeside('another')).toEqual(['conflict']);
  });
});
