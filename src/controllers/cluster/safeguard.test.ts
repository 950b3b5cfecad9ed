import { describe, expect, it } from 'vitest';
import { aWorld, withIntent } from '../../../test/support/worlds.ts';
import type { ClusterWorld } from '../../core/model/cluster.ts';
import { coreos } from '../../dialects/coreos-v1beta2/dialect.ts';
import { failureOf } from '../../kube/errors.ts';
import { Failure } from '../../std/failure.ts';
import type { Deed } from './deed.ts';
import { lookAtSafeguard, makeBackup } from './safeguard.ts';
import { Watched } from './watched.ts';

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

const backup = (status: object, uid = 'b', owner = 'u'): object => ({
  spec: madeAfter(like),
  metadata: { uid, creationTimestamp: '2020-01-01T00:00:00Z', ownerReferences: [{ uid: owner }] },
  status,
});
const [good, failed] = [
  { succeeded: true },
  { succeeded: false, Reason: 'no bucket', lastScheduleTime: '2026-01-01T11:59:00Z' },
];

const notThere = new Failure('not-found', 'no');

interface Given {
  readonly world?: ClusterWorld;
  readonly another?: object;
  readonly watched?: Watched;
}

/** `another` is the one after whose likeness it is made. */
async function seen(found: object, { world = upgrading, another, watched }: Given = {}) {
  const read = coreos.read(raw);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const get = (_: unknown, { name }: { readonly name: string }): Promise<never> => {
    const answer = name === 'hourly' ? (another ?? { spec: like }) : found;
    return answer instanceof Failure ? Promise.reject(answer) : (Promise.resolve(answer) as Promise<never>);
  };
  return lookAtSafeguard(read.value, world, { client: { get }, dialect: coreos, watched });
}

/** What one operator sees in passes that are ten seconds apart, for so many seconds each. */
function watching(given: Given = {}) {
  let now = 0;
  const watched = new Watched({ monotonic: () => now });
  const after = async (seconds: number, found: object): Promise<unknown> => {
    for (let passed = 0; passed < seconds; passed += 10) {
      now += 10_000;
      await seen(found, { ...given, watched });
    }
    return (await seen(found, { ...given, watched }))?.state;
  };
  const sleep = (seconds: number): void => void (now += seconds * 1000);
  return { after, sleep, made: () => watched.safeguards.made('default/db') };
}

describe('the backup before an upgrade', () => {
  it('is none while no other minor is next', async () => {
    expect(await seen(new Failure('bug', 'nobody asks'), { world: aWorld() })).toBeUndefined();
  });

  it.each([
    ['missing', notThere, ''],
    ['missing', failureOf('get etcdbackups', 404, { text: '404 page not found' }), ''],
    ['under-way', backup({}), ''],
    ['good', backup(good), ''],
    ['failed', backup(failed), 'no bucket'],
    ['failed', backup(good, 'b', 'another'), 'it is not of this cluster: delete or rename it'],
    ['failed', new Failure('forbidden', 'may not get etcdbackups'), 'may not get etcdbackups'],
  ])('is %s: %j', async (state, found, why) => {
    expect(await seen(found)).toEqual({ name: 'db-before-3.6.16', state, why });
  });

  it('that failed is made again two minutes after this operator saw it fail, whatever the clocks say', async () => {
    const { after } = watching();
    expect(await after(300, backup({}))).toBe('under-way');
    expect(await after(110, backup(failed))).toBe('failed');
    expect(await after(30, backup(failed))).toBe('stale');
    expect(await after(110, backup(failed, 'another'))).toBe('failed');
  });

  it('is good for a day, if this operator has watched it since before it was complete', async () => {
    const { after } = watching();
    expect(await after(60, backup({}))).toBe('under-way');
    expect(await after(23 * 3600, backup(good))).toBe('good');
    expect(await after(3700, backup(good))).toBe('stale');
  });

  it('is made again once if it was complete when it was seen first, or was not watched for a while', async () => {
    const { after, made, sleep } = watching();
    expect(await after(0, backup(good))).toBe('stale');
    expect(await after(60, backup(good))).toBe('stale');
    made();
    expect(await after(60, backup(good, 'quick'))).toBe('good');
    sleep(30 * 24 * 3600);
    expect(await after(60, backup(good, 'quick'))).toBe('stale');
    made();
    expect(await after(60, backup({}, 'slow'))).toBe('under-way');
    expect(await after(60, backup(good, 'slow'))).toBe('good');
  });

  it.each(['BackupBlocked', 'BadSpec'])(
    'that cannot begin (%s) is told, then has failed, then is made again',
    async (reason) => {
      const { after } = watching();
      expect(await seen(backup(heldUp(reason)))).toMatchObject({ why: 'Secret "aws" is not there' });
      expect(await after(60, backup(heldUp(reason)))).toBe('under-way');
      expect(await after(120, backup(heldUp(reason)))).toBe('failed');
      expect(await after(120, backup(heldUp(reason)))).toBe('stale');
    },
  );

  it('is made again as soon as what it was made after is corrected, unless it is under way or good', async () => {
    const another = { spec: { ...like, s3: { path: 'bucket/etcd', awsSecret: 'the-right-one' } } };
    for (const status of [heldUp('BackupBlocked'), heldUp('BadSpec'), failed]) {
      const { after } = watching({ another });
      expect(await after(10, backup(status))).not.toBe('stale');
      expect(await after(20, backup(status))).toBe('stale');
    }
    const { after } = watching({ another });
    expect(await after(60, backup({}))).toBe('under-way');
    expect(await after(3600, backup(good))).toBe('good');
  });

  it('is told to have failed where there is none after whose likeness it could be made', async () => {
    for (const found of [notThere, backup(good)])
      expect(await seen(found, { another: notThere, watched: new Watched({ monotonic: () => 0 }) })).toMatchObject({
        state: 'failed',
        why: expect.stringContaining('spec.backupBeforeUpgrade.like: there is no EtcdBackup hourly'),
      });
  });

  it('lets other trouble be other trouble', async () => {
    await expect(seen(new Failure('unreachable', 'no API server'))).rejects.toThrow('no API server');
  });
});

describe('a backup that makes room for the next before an upgrade', () => {
  /** What is removed and created where this has the name of the backup by now. */
  async function madeOver(found: object | Failure) {
    const done: unknown[] = [];
    const read = coreos.read(raw);
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    const get = async (_: unknown, { name }: { readonly name: string }): Promise<unknown> => {
      if (name !== 'hourly' && found instanceof Failure) throw found;
      return name === 'hourly' ? { metadata: {}, spec: like } : found;
    };
    const writer = {
      remove: async (_: unknown, __: unknown, how: { preconditions: object }) => void done.push(how.preconditions),
      create: async () => void done.push('created'),
    };
    const { blueprint } = read.value;
    const watched = new Watched({ monotonic: () => 0 });
    const deed = {
      blueprint,
      writer,
      tools: { client: { get }, dialect: coreos, watched },
      observed: { backupBeforeUpgrade: 'hourly' },
    };
    const step = { kind: 'make-backup', name: 'db-before-3.6.16', version: '3.6.16' } as const;
    await makeBackup(step, deed as unknown as Deed).catch((thrown: Error) => done.push(thrown.message));
    if (done.includes('created')) expect(await seen(backup(good, 'new'), { watched })).toMatchObject({ state: 'good' });
    return done;
  }

  it('goes as it was read', async () => {
    const metadata = { uid: 'b', resourceVersion: '4', ownerReferences: [{ uid: 'u' }] };
    expect(await madeOver({ metadata })).toEqual([{ uid: 'b', resourceVersion: '4' }, 'created']);
    expect(await madeOver(notThere)).toEqual(['created']);
  });

  it('stays if it was not made for this cluster', async () => {
    const metadata = { uid: 'b', resourceVersion: '4', ownerReferences: [] };
    expect(await madeOver({ metadata })).toEqual(['EtcdBackup db-before-3.6.16 is not of this cluster']);
  });
});
