import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BackupStatus } from '../../../core/backup/status.ts';
import type { ReadBackup } from '../../common/backup-dialect.ts';
import { improbableBackups } from './backup.ts';

const created = '2026-01-01T00:00:00Z';
const metadata = { name: 'b', namespace: 'n', uid: 'u', creationTimestamp: created };
/** The example in the original's README. */
const original = {
  source: { clusterURL: 'http://my-cluster:2379' },
  destination: { objectURLTemplate: 's3://bucket/{{ .Namespace }}/{{ .UID }}.db?region=eu-west-1' },
};
const backup = (spec: object = {}, status?: object, more: object = {}): object => ({
  metadata: { ...metadata, ...more },
  spec: { ...original, ...spec },
  ...(status === undefined ? {} : { status }),
});
const withUrl = (objectURLTemplate: string, more: object = {}): object =>
  backup({ destination: { objectURLTemplate, ...more } });

function valueOf(raw: object): ReadBackup {
  const read = improbableBackups.read(raw);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value;
}
const problems = (raw: object): string => {
  const read = improbableBackups.read(raw);
  return read.ok ? '' : read.problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
};

describe('an EtcdBackup of the original', () => {
  it('runs once, with the operator’s credentials', () => {
    const { intent } = valueOf(backup());
    expect(intent).toMatchObject({
      source: { endpoints: ['http://my-cluster:2379'], tlsSecret: undefined },
      store: { url: original.destination.objectURLTemplate, secret: undefined },
      ...{ credentials: 'operators', times: undefined, timeoutSeconds: 600, compression: 'none' },
      ...{ keptFor: undefined, keep: {}, createdAt: Date.parse(created) },
    });
    expect(intent.store).toMatchObject({ values: { ...metadata } });
  });

  it('may have a clusterURL without a scheme', () => {
    const endpoints = (source: object) => valueOf(backup({ source })).intent.source;
    expect(endpoints({ clusterURL: 'db:2379' })).toMatchObject({ endpoints: ['http://db:2379'] });
    expect(endpoints({ clusterURL: 'db:2379', tlsSecret: 'tls' })).toMatchObject({ endpoints: ['https://db:2379'] });
  });
});

describe('an EtcdBackup', () => {
  it('uses its own credentials if it names any, and on a volume', () => {
    const credentials = (raw: object) => valueOf(raw).intent.credentials;
    expect(credentials(withUrl('s3://b/k', { credentialsSecret: 'aws' }))).toBe('own');
    expect(credentials(backup({ serviceAccountName: 'writer' }))).toBe('own');
    expect(credentials(withUrl('file://claim/k'))).toBe('own');
    expect(credentials(withUrl('gs://b/k'))).toBe('operators');
  });

  it('of a schedule belongs to the retention of the schedule', () => {
    const owner = { apiVersion: 'etcd.improbable.io/v1alpha1', kind: 'EtcdBackupSchedule', name: 's', uid: 'su' };
    const made = backup({ retention: { maxBackups: 3 } }, undefined, {
      ownerReferences: [{ ...owner, controller: true }],
    });
    expect(valueOf(made).intent).toMatchObject({
      keptFor: { kind: 'EtcdBackupSchedule', name: 's', uid: 'su' },
      keep: { count: 3 },
    });
    const notController = backup({}, undefined, { ownerReferences: [{ ...owner, controller: false }] });
    expect(valueOf(notController).intent.keptFor).toBeUndefined();
  });

  it.each<[string, object, string]>([
    ['no source', { source: {} }, 'one of clusterURL and clusterName must be set'],
    ['two sources', { source: { clusterURL: 'http://a', clusterName: 'a' } }, 'and not both'],
    ['a tlsSecret with clusterName', { source: { clusterName: 'a', tlsSecret: 't' } }, 'are only for clusterURL'],
    ['a clusterURL with a path', { source: { clusterURL: 'http://a:2379/v3' } }, 'spec.source.clusterURL: must be a'],
    ['a clusterURL with a password', { source: { clusterURL: 'http://me:you@a:2379' } }, 'spec.source.clusterURL'],
    ['no destination', { destination: undefined }, 'spec.destination: must be set'],
    ['a timeout of 0', { timeoutSeconds: 0 }, 'spec.timeoutSeconds: must be from 1'],
    ['maxBackups 0', { retention: { maxBackups: 0 } }, 'spec.retention.maxBackups: must be from 1'],
    ['a negative maxAgeSeconds', { retention: { maxAgeSeconds: -1 } }, 'spec.retention.maxAgeSeconds'],
    ['text instead of a number', { timeoutSeconds: '1m' }, 'spec.timeoutSeconds: must be a whole number'],
    ['an unknown compression', { compression: 'rar' }, 'must be one of "none", "gzip", "zstd"'],
  ])('with %s is refused', (_title, over, message) => {
    expect(problems(backup(over))).toContain(message);
  });

  it.each(['ftp://b/k', 's3://bucket', 's3://me:secret@b/k', 'bucket/key', 's3:///k', 'file://'])(
    'with the destination %s is refused',
    (url) => {
      expect(problems(withUrl(url))).toContain('spec.destination.objectURLTemplate: must be the URL of an object');
    },
  );

  it('with any content is read without an exception', () => {
    fc.assert(fc.property(fc.anything(), (raw) => void improbableBackups.read(raw)));
    fc.assert(fc.property(fc.object(), (raw) => void improbableBackups.read(backup(raw, raw, raw))));
  });
});

describe('the memory of an EtcdBackup', () => {
  const isFinished = (status: object) => valueOf(backup({}, status)).memory.isFinished;

  it('is finished once the backup has ended, also if the original made it', () => {
    expect(isFinished({})).toBe(false);
    expect(isFinished({ phase: 'BackingUp' })).toBe(false);
    expect(isFinished({ phase: 'Completed' })).toBe(true);
    expect(isFinished({ phase: 'Failed' })).toBe(true);
  });

  it('is not finished after an invalid spec was corrected', () => {
    const status = improbableBackups.writeProblems('no', {}, new Date(created));
    expect(status).toMatchObject({ phase: 'Failed', message: 'no' });
    expect(isFinished(status)).toBe(false);
  });
});

describe('the status of an EtcdBackup', () => {
  const now = new Date('2026-01-01T00:00:05Z');
  const write = (status: BackupStatus, previous: unknown = {}, at = now): Record<string, unknown> =>
    improbableBackups.writeStatus({ status, generation: 1, now: at }, previous) as never;
  const begun: BackupStatus = { isProgressing: true, reason: 'Saving', message: 'a pod is starting' };
  const end = (ok: boolean, facts: object = {}): BackupStatus => ({
    ...{ isProgressing: false, reason: ok ? 'Saved' : 'BackupFailed', message: 'm' },
    run: { ok, message: ok ? 'm' : 'no such bucket', facts, slot: 0 },
  });

  it('has the phases of the original, with times', () => {
    const before = write(begun);
    expect(before).toMatchObject({ phase: 'BackingUp', startTime: '2026-01-01T00:00:05Z', message: begun.message });
    const later = new Date('2026-01-01T00:00:09Z');
    const facts = { url: 's3://b/k', size: 9, version: '3.6.16', revision: '42', seconds: 1.5 };
    const after = write(end(true, facts), before, later);
    expect(after).toMatchObject({
      ...{ phase: 'Completed', startTime: '2026-01-01T00:00:05Z', completionTime: '2026-01-01T00:00:09Z' },
      ...{ url: 's3://b/k', sizeBytes: 9, etcdVersion: '3.6.16', revision: 42, verified: true, durationSeconds: '1.5' },
    });
    expect(after).not.toHaveProperty('message');
    expect(improbableBackups.figures(after)).toMatchObject({ sizeBytes: 9, seconds: 1.5, failures: 0 });
  });

  it('keeps the start of the current run until the run ends', () => {
    const underWay: BackupStatus = { ...begun, isUnderWay: true };
    const before = write(underWay);
    const later = new Date('2026-01-01T01:00:00Z');
    expect(write(underWay, before, later)).toEqual(before);
    expect(valueOf(backup({}, before)).memory.begunAt).toBe(now.getTime());
    expect(write(end(true), before, later)).not.toHaveProperty('runStartTime');
  });

  it('of a finished backup is final', () => {
    for (const ok of [true, false]) expect(improbableBackups.isOver({ status: write(end(ok)) })).toBe(true);
    expect(improbableBackups.isOver({ status: write(begun) })).toBe(false);
    expect(improbableBackups.isOver({})).toBe(false);
  });

  it('has the reason of a failure', () => {
    expect(write(end(false), write(begun))).toMatchObject({ phase: 'Failed', message: 'no such bucket' });
  });

  it('has the warnings of the backup', () => {
    const warnings = ['x'.repeat(2000)];
    expect(write(end(true, { url: 's3://b/k', warnings }))).toMatchObject({
      ...{ phase: 'Completed', verified: true, warnings: ['x'.repeat(1024)] },
    });
    expect(improbableBackups.eventsOfEnd({ ok: true, message: 'm', facts: { warnings: ['no leader'] } })).toMatchObject(
      [{ reason: 'BackupSucceeded' }, { type: 'Warning', reason: 'BackupWarning', message: 'no leader' }],
    );
    expect(improbableBackups.eventsOfEnd({ ok: false, message: 'm', facts: { warnings } })).toHaveLength(1);
  });

  it('stays the same without changes', () => {
    const before = write(begun);
    expect(write(begun, before, new Date('2026-01-01T01:00:00Z'))).toEqual(before);
  });
});
