import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BackupStatus } from '../../core/backup/status.ts';
import type { ReadBackup } from '../common/backup-dialect.ts';
import { coreosBackups } from './backup.ts';

const spec = {
  etcdEndpoints: ['http://db-client:2379'],
  storageType: 'S3',
  s3: { path: 'bucket/some/key', awsSecret: 'aws' },
};
const backup = (over: object = {}, status?: object): unknown => ({
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdBackup',
  metadata: { name: 'b', namespace: 'n', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { ...spec, ...over },
  ...(status === undefined ? {} : { status }),
});

const valueOf = (raw: unknown): ReadBackup => {
  const read = coreosBackups.read(raw);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value;
};
const problems = (raw: unknown): string => {
  const read = coreosBackups.read(raw);
  return read.ok ? '' : read.problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
};

describe('an EtcdBackup', () => {
  it('with only required fields runs once, with a timeout of a minute and no retention limit', () => {
    expect(valueOf(backup()).intent).toEqual({
      ...{ credentials: 'own', keptFor: undefined },
      ...{ name: 'b', namespace: 'n', uid: 'u', createdAt: Date.parse('2026-01-01T00:00:00Z') },
      source: { endpoints: ['http://db-client:2379'], tlsSecret: undefined },
      store: {
        kind: 's3',
        field: 'spec.s3.path',
        path: 'bucket/some/key',
        secret: 'aws',
        endpoint: undefined,
        pathStyle: undefined,
      },
      ...{ timeoutSeconds: 60, times: undefined, paused: false, compression: 'none' },
      keep: { count: undefined, ageSeconds: undefined },
      serviceAccountName: undefined,
    });
  });

  it.each([
    ['ABS', { abs: { path: 'c/k', absSecret: 's' } }, { kind: 'azblob', path: 'c/k', secret: 's' }],
    ['GCS', { gcs: { path: 'c/k' } }, { kind: 'gcs', path: 'c/k', secret: undefined }],
    [
      'OSS',
      { oss: { path: 'c/k', ossSecret: 's', endpoint: 'http://o' } },
      { kind: 'oss', secret: 's', endpoint: 'http://o' },
    ],
    ['PVC', { pvc: { claimName: 'claim', path: 'a/b.db' } }, { kind: 'file', path: 'claim/a/b.db' }],
  ])('can be stored in %s', (storageType, store, place) => {
    expect(valueOf(backup({ storageType, ...store })).intent.store).toMatchObject(place);
  });

  it('may name a cluster, or endpoints without a scheme', () => {
    expect(valueOf(backup({ etcdEndpoints: undefined, etcdCluster: { name: 'db' } })).intent.source).toEqual({
      cluster: 'db',
    });
    const withTls = backup({ etcdEndpoints: ['db:2379'], clientTLSSecret: 'tls' });
    expect(valueOf(withTls).intent.source).toEqual({ endpoints: ['https://db:2379'], tlsSecret: 'tls' });
  });

  it.each<[string, object, string]>([
    ['no endpoints', { etcdEndpoints: [] }, 'spec.etcdEndpoints should not be empty'],
    ['endpoints and a cluster', { etcdCluster: { name: 'db' } }, 'exclude each other'],
    ['an unknown store', { storageType: 'FTP' }, 'spec.storageType: must be one of "S3", "ABS", "GCS", "OSS", "PVC"'],
    ['a store without its field', { storageType: 'ABS' }, 'storageType is ABS, so abs must be set'],
    ['a bucket without a key', { s3: { path: 'bucket' } }, 'spec.s3.path: Invalid S3 path'],
    ['a key that ends like a directory', { s3: { path: 'bucket/key/' } }, 'spec.s3.path: Invalid S3 path'],
    ['a path with a slash first', { s3: { path: '/bucket/key' } }, 'spec.s3.path: Invalid S3 path'],
    [
      'an endpoint with credentials',
      { s3: { path: 'b/k', endpoint: 'https://me:secret@x' } },
      'spec.s3.endpoint: must be a URL',
    ],
    [
      'a negative interval',
      { backupPolicy: { backupIntervalInSecond: -1 } },
      'BackupIntervalInSecond should not be lower than 0',
    ],
    ['a negative number of backups', { backupPolicy: { maxBackups: -1 } }, 'MaxBackups should not be lower than 0'],
    ['a number as text', { backupPolicy: { maxBackups: '3' } }, 'spec.backupPolicy.maxBackups: must be a whole number'],
    ['a Secret of another namespace', { s3: { path: 'b/k', awsSecret: 'other/aws' } }, 'spec.s3.awsSecret'],
    [
      'an endpoint of etcd with a path',
      { etcdEndpoints: ['http://db:2379/v3'] },
      'spec.etcdEndpoints[0]: must be a client URL',
    ],
  ])('with %s is refused', (_title, over, message) => {
    expect(problems(backup(over))).toContain(message);
  });

  it('with any content is read without an exception', () => {
    fc.assert(fc.property(fc.anything(), (raw) => void coreosBackups.read(raw)));
    fc.assert(fc.property(fc.object(), (raw) => void coreosBackups.read(backup(raw as object, raw as object))));
  });
});

describe('the memory of an EtcdBackup', () => {
  it('is empty at first, and has the last run later', () => {
    expect(valueOf(backup()).memory).toEqual({ isFinished: false, lastSlot: undefined, failures: 0 });
    const status = { lastScheduleTime: '2026-01-01T00:10:00Z', conditions: [], failures: 2 };
    expect(valueOf(backup({}, status)).memory).toEqual({
      isFinished: true,
      lastSlot: Date.parse('2026-01-01T00:10:00Z'),
      failures: 2,
    });
  });

  it('is finished if the original has made the backup or failed', () => {
    expect(valueOf(backup({}, { succeeded: true })).memory.isFinished).toBe(true);
    expect(valueOf(backup({}, { succeeded: false, Reason: 'no' })).memory.isFinished).toBe(true);
    expect(valueOf(backup({}, { succeeded: false, lastSuccessDate: null })).memory.isFinished).toBe(false);
  });
});

describe('the status of an EtcdBackup', () => {
  const now = new Date('2026-01-01T00:00:05Z');
  const write = (status: BackupStatus, previous: unknown = {}) =>
    coreosBackups.writeStatus({ status, generation: 1, now }, previous) as Record<string, unknown>;
  const run = (ok: boolean, facts: object = {}): BackupStatus => ({
    ...{ isProgressing: false, reason: ok ? 'Saved' : 'BackupFailed', message: 'm' },
    run: { ok, message: ok ? 'm' : 'no such bucket', facts, slot: Date.parse('2026-01-01T00:00:00Z') },
  });
  const facts = {
    version: '3.5.35',
    revision: '42',
    takenAt: '2026-01-01T00:00:01.234Z',
    url: 's3://b/k_2026-01-01-00%3A00%3A00?region=eu',
    size: 9,
    seconds: 1.5,
  };

  it('describes the successful backup', () => {
    expect(write(run(true, facts))).toMatchObject({
      ...{
        succeeded: true,
        Reason: '',
        etcdVersion: '3.5.35',
        etcdRevision: 42,
        lastSuccessDate: '2026-01-01T00:00:01Z',
      },
      ...{ lastScheduleTime: '2026-01-01T00:00:00Z', failures: 0 },
      lastBackup: {
        url: 's3://b/k_2026-01-01-00%3A00%3A00?region=eu',
        path: 'b/k_2026-01-01-00:00:00',
        sizeBytes: 9,
        durationSeconds: '1.5',
        verified: true,
      },
    });
  });

  it('keeps the facts of the last successful backup when a backup fails', () => {
    const before = write(run(true, facts));
    expect(write(run(false), before)).toMatchObject({
      ...{
        succeeded: false,
        Reason: 'no such bucket',
        etcdRevision: 42,
        lastSuccessDate: '2026-01-01T00:00:01Z',
        failures: 1,
      },
    });
  });

  it('of a finished one-time backup is final, even with an invalid spec', () => {
    const isOver = (policy: object | null, status: object): boolean =>
      coreosBackups.isOver({ spec: { storageType: 'FTP', backupPolicy: policy }, status });
    const [good, bad] = [write(run(true, facts)), write(run(false))];
    for (const status of [good, bad, { succeeded: true }, { succeeded: false, Reason: 'the original failed' }])
      expect(isOver({ timeoutInSecond: 1 }, status)).toBe(true);
    for (const policy of [null, {}, { backupIntervalInSecond: 0 }]) expect(isOver(policy, good)).toBe(true);
    for (const policy of [{ backupIntervalInSecond: 60 }, { schedule: '@daily' }])
      expect(isOver(policy, good)).toBe(false);
    expect(isOver({}, coreosBackups.writeProblems('no', {}, now))).toBe(false);
    for (const none of [undefined, null, 'nonsense'])
      expect(coreosBackups.isOver({ spec: none, status: good })).toBe(true);
  });

  it('drops the reason of a block that has ended', () => {
    const blocked = {
      isProgressing: true,
      reason: 'BackupBlocked',
      message: 'no Secret',
      obstacle: 'no Secret',
    } as const;
    const before = write(blocked);
    expect(before).toMatchObject({ succeeded: false, Reason: 'no Secret' });
    expect(write(blocked, before)).toEqual(before);
    const saving: BackupStatus = { isProgressing: true, reason: 'Saving', message: 'm' };
    expect(write(saving, before)).toMatchObject({ succeeded: false, Reason: '' });
    expect(write(saving, write(run(false)))).toMatchObject({ Reason: 'no such bucket' });
  });

  it('keeps the start of the current run until the run ends', () => {
    const saving: BackupStatus = { isProgressing: true, isUnderWay: true, reason: 'Saving', message: 'm' };
    const blocked: BackupStatus = { isProgressing: true, reason: 'BackupBlocked', message: 'no Secret' };
    expect(write(blocked)).not.toHaveProperty('runStartTime');
    const begun = write(saving, write(blocked));
    expect(valueOf(backup({}, begun)).memory.begunAt).toBe(now.getTime());
    const later = new Date('2026-01-01T01:00:00Z');
    const after = (status: BackupStatus) => coreosBackups.writeStatus({ status, generation: 1, now: later }, begun);
    for (const status of [saving, blocked])
      expect(after(status)).toMatchObject({ runStartTime: begun['runStartTime'] });
    expect(after(run(true, facts))).not.toHaveProperty('runStartTime');
  });

  it('corrects the time of the last run', () => {
    const ahead = { ...write(run(true, facts)), lastScheduleTime: '2099-01-01T00:00:00Z' };
    const waiting: BackupStatus = { isProgressing: false, reason: 'Scheduled', message: 'm', nextAt: 0 };
    expect(write(waiting, ahead)).toMatchObject({ lastScheduleTime: '2099-01-01T00:00:00Z' });
    const lastSlot = Date.parse('2026-01-01T00:00:03.500Z');
    expect(write({ ...waiting, lastSlot }, ahead)).toMatchObject({ lastScheduleTime: '2026-01-01T00:00:03Z' });
  });

  it('has the warnings of the last successful backup until the next success', () => {
    const warnings = ['failed to delete old snapshot'];
    const withWarnings = write(run(true, { ...facts, warnings }));
    expect(withWarnings).toMatchObject({ succeeded: true, warnings, lastBackup: { sizeBytes: 9 } });
    expect(write(run(false), withWarnings)).toMatchObject({ succeeded: false, warnings });
    expect(write(run(true, facts), withWarnings)).not.toHaveProperty('warnings');
    const events = coreosBackups.eventsOfEnd({ ok: true, message: 'm', facts: { warnings } });
    expect(events).toMatchObject([
      { type: 'Normal' },
      { type: 'Warning', reason: 'BackupWarning', message: warnings[0] },
    ]);
  });

  it('stays the same without changes, and keeps the result of the last run', () => {
    const waiting: BackupStatus = { isProgressing: false, reason: 'Scheduled', message: 'm', nextAt: 0 };
    const before = write(waiting, write(run(true, facts)));
    expect(write(waiting, before)).toEqual(before);
    expect(before['conditions']).toMatchObject([{ type: 'Progressing' }, { type: 'Succeeded', status: 'True' }]);
  });
});
