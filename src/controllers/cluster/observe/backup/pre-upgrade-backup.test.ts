import { describe, expect, it } from 'vitest';
import { aKnownWorld, withIntent } from '../../../../../test/support/worlds.ts';
import { coreos } from '../../../../apis/coreos-v1beta2/dialect.ts';
import type { KnownWorld } from '../../../../core/cluster/model/cluster.ts';
import { failureOfAnswer } from '../../../../kube/errors.ts';
import { Failure } from '../../../../std/failure.ts';
import { makeBackup } from '../../act/make-backup.ts';
import type { StepContext } from '../../act/step-context.ts';
import { Watched } from '../watched.ts';
import { observePreUpgradeBackup } from './pre-upgrade-backup.ts';

const raw = {
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdCluster',
  metadata: { name: 'db', namespace: 'default', uid: 'u' },
  spec: { size: 3, version: '3.6.16', backupBeforeUpgrade: { like: 'hourly' } },
};
const upgrading = aKnownWorld(withIntent({ version: '3.6.16' }));

const like = { storageType: 'S3', s3: { path: 'bucket/etcd', awsSecret: 'aws' }, backupPolicy: { maxBackups: 3 } };
/** The spec of a backup with this template, as the API server returns it. */
const specAfter = (template: object): unknown =>
  JSON.parse(
    JSON.stringify(
      coreos.preUpgradeBackups?.specFrom(template, { namespace: 'default', cluster: 'db', version: '3.6.16' }) ?? {},
    ),
  );

const heldUp = (reason: string) => ({
  ...{ succeeded: false, Reason: 'Secret "aws" does not exist' },
  conditions: [{ type: 'Progressing', status: 'True', reason }],
});

const backup = (status: object, uid = 'b', owner = 'u'): object => ({
  spec: specAfter(like),
  metadata: { uid, creationTimestamp: '2020-01-01T00:00:00Z', ownerReferences: [{ uid: owner }] },
  status,
});
const [good, failed] = [
  { succeeded: true },
  { succeeded: false, Reason: 'no bucket', lastScheduleTime: '2026-01-01T11:59:00Z' },
];

const notFound = new Failure('not-found', 'no');

interface Given {
  readonly world?: KnownWorld;
  readonly template?: object;
  readonly watched?: Watched;
}

/** `template` is the EtcdBackup that spec.backupBeforeUpgrade.like names. */
async function seen(found: object, { world = upgrading, template, watched }: Given = {}) {
  const read = coreos.read(raw);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const get = (_: unknown, { name }: { readonly name: string }): Promise<never> => {
    const answer = name === 'hourly' ? (template ?? { spec: like }) : found;
    return answer instanceof Failure ? Promise.reject(answer) : (Promise.resolve(answer) as Promise<never>);
  };
  return observePreUpgradeBackup(read.value, world, { client: { get }, dialect: coreos, watched });
}

/** An operator with a pass every ten seconds. `after` returns the state of the backup after that many seconds. */
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
  return { after, sleep, made: () => watched.preUpgradeBackups.made('default/db') };
}

describe('the pre-upgrade backup', () => {
  it('is not required without an upgrade to another minor version', async () => {
    expect(await seen(new Failure('bug', 'unexpected read'), { world: aKnownWorld() })).toBeUndefined();
  });

  it.each([
    ['missing', notFound, ''],
    ['missing', failureOfAnswer('get etcdbackups', 404, { text: '404 page not found' }), ''],
    ['under-way', backup({}), ''],
    ['good', backup(good), ''],
    ['failed', backup(failed), 'no bucket'],
    ['failed', backup(good, 'b', 'another'), 'EtcdBackup does not belong to this cluster: delete or rename it'],
    ['failed', new Failure('forbidden', 'may not get etcdbackups'), 'may not get etcdbackups'],
  ])('is %s: %j', async (state, found, why) => {
    expect(await seen(found)).toEqual({ name: 'db-before-3.6.16', state, why });
  });

  it('is replaced two minutes after it was observed to fail, independent of clocks', async () => {
    const { after } = watching();
    expect(await after(300, backup({}))).toBe('under-way');
    expect(await after(110, backup(failed))).toBe('failed');
    expect(await after(30, backup(failed))).toBe('stale');
    expect(await after(110, backup(failed, 'another'))).toBe('failed');
  });

  it('is valid for a day if this operator has watched it before it was complete', async () => {
    const { after } = watching();
    expect(await after(60, backup({}))).toBe('under-way');
    expect(await after(23 * 3600, backup(good))).toBe('good');
    expect(await after(3700, backup(good))).toBe('stale');
  });

  it('is replaced once if it was complete when first observed, or was not watched for a while', async () => {
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
    'that cannot start (%s) is reported, then has failed, then is replaced',
    async (reason) => {
      const { after } = watching();
      expect(await seen(backup(heldUp(reason)))).toMatchObject({ why: 'Secret "aws" does not exist' });
      expect(await after(60, backup(heldUp(reason)))).toBe('under-way');
      expect(await after(120, backup(heldUp(reason)))).toBe('failed');
      expect(await after(120, backup(heldUp(reason)))).toBe('stale');
    },
  );

  it('is replaced once its template is corrected, unless it is under way or good', async () => {
    const template = { spec: { ...like, s3: { path: 'bucket/etcd', awsSecret: 'the-right-one' } } };
    for (const status of [heldUp('BackupBlocked'), heldUp('BadSpec'), failed]) {
      const { after } = watching({ template });
      expect(await after(10, backup(status))).not.toBe('stale');
      expect(await after(20, backup(status))).toBe('stale');
    }
    const { after } = watching({ template });
    expect(await after(60, backup({}))).toBe('under-way');
    expect(await after(3600, backup(good))).toBe('good');
  });

  it('has failed if its template does not exist', async () => {
    for (const found of [notFound, backup(good)])
      expect(await seen(found, { template: notFound, watched: new Watched({ monotonic: () => 0 }) })).toMatchObject({
        state: 'failed',
        why: expect.stringContaining('spec.backupBeforeUpgrade.like: there is no EtcdBackup hourly'),
      });
  });

  it('does not hide other failures', async () => {
    await expect(seen(new Failure('unreachable', 'no API server'))).rejects.toThrow('no API server');
  });
});

describe('the replaced pre-upgrade backup', () => {
  /** Returns the removals and creations if this object has the name of the backup. */
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
    const context = {
      blueprint,
      writer,
      controller: { client: { get }, dialect: coreos, watched },
      observed: { backupBeforeUpgrade: 'hourly' },
    };
    const step = { kind: 'make-backup', name: 'db-before-3.6.16', version: '3.6.16' } as const;
    await makeBackup(step, context as unknown as StepContext).catch((thrown: Error) => done.push(thrown.message));
    if (done.includes('created')) expect(await seen(backup(good, 'new'), { watched })).toMatchObject({ state: 'good' });
    return done;
  }

  it('is deleted with its UID and resourceVersion as preconditions', async () => {
    const metadata = { uid: 'b', resourceVersion: '4', ownerReferences: [{ uid: 'u' }] };
    expect(await madeOver({ metadata })).toEqual([{ uid: 'b', resourceVersion: '4' }, 'created']);
    expect(await madeOver(notFound)).toEqual(['created']);
  });

  it('is not deleted if it does not belong to this cluster', async () => {
    const metadata = { uid: 'b', resourceVersion: '4', ownerReferences: [] };
    expect(await madeOver({ metadata })).toEqual([
      'EtcdBackup db-before-3.6.16 does not belong to this cluster: delete or rename it',
    ]);
  });
});
