import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BackupStatus } from '../../core/status/backup-status.ts';
import type { ReadBackup } from '../backup-dialect.ts';
import { improbableBackups } from './backup.ts';

const created = '2026-01-01T00:00:00Z';
const metadata = { name: 'b', namespace: 'n', uid: 'u', creationTimestamp: created };
/** As the original's README has it. */
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
  return read.ok ? '' : read.problems.map(({ path, says }) => `${path}: ${says}`).join('; ');
};

describe('an EtcdBackup of the original', () => {
  it('is made once, with what the operator was given', () => {
    const { intent } = valueOf(backup());
    expect(intent).toMatchObject({
      source: { endpoints: ['http://my-cluster:2379'], tlsSecret: undefined },
      store: { url: original.destination.objectURLTemplate, secret: undefined },
      ...{ credentials: 'operators', times: undefined, timeoutSeconds: 600, compression: 'none' },
      ...{ keptFor: undefined, keep: {}, createdAt: Date.parse(created) },
    });
    expect(intent.store).toMatchObject({ words: { ...metadata } });
  });

  it('may name its etcd without a scheme', () => {
    const endpoints = (source: object) => valueOf(backup({ source })).intent.source;
    expect(endpoints({ clusterURL: 'db:2379' })).toMatchObject({ endpoints: ['http://db:2379'] });
    expect(endpoints({ clusterURL: 'db:2379', tlsSecret: 'tls' })).toMatchObject({ endpoints: ['https://db:2379'] });
  });
});

describe('an EtcdBackup', () => {
  it('uses its own credentials where it names any, and on a volume', () => {
    const credentials = (raw: object) => valueOf(raw).intent.credentials;
    expect(credentials(withUrl('s3://b/k', { credentialsSecret: 'aws' }))).toBe('own');
    expect(credentials(backup({ serviceAccountName: 'writer' }))).toBe('own');
    expect(credentials(withUrl('file://claim/k'))).toBe('own');
    expect(credentials(withUrl('gs://b/k'))).toBe('operators');
  });

  it('that a schedule has made is kept for the schedule', () => {
    const owner = { apiVersion: 'etcd.improbable.io/v1alpha1', kind: 'EtcdBackupSchedule', name: 's', uid: 'su' };
    const made = backup({ retention: { maxBackups: 3 } }, undefined, {
      ownerReferences: [{ ...owner, controller: true }],
    });
    expect(valueOf(made).intent).toMatchObject({
      keptFor: { kind: 'EtcdBackupSchedule', name: 's', uid: 'su' },
      keep: { count: 3 },
    });
    const mere = backup({}, undefined, { ownerReferences: [{ ...owner, controller: false }] });
    expect(valueOf(mere).intent.keptFor).toBeUndefined();
  });

  it.each<[string, object, string]>([
    ['no source', { source: {} }, 'one of clusterURL and clusterName must be set'],
    ['two sources', { source: { clusterURL: 'http://a', clusterName: 'a' } }, 'and not both'],
    ['certificates for a cluster of ours', { source: { clusterName: 'a', tlsSecret: 't' } }, 'go with clusterURL'],
    ['a path behind its etcd', { source: { clusterURL: 'http://a:2379/v3' } }, 'spec.source.clusterURL: must be a'],
    ['a password in a URL', { source: { clusterURL: 'http://me:you@a:2379' } }, 'spec.source.clusterURL'],
    ['no destination', { destination: undefined }, 'spec.destination: must be set'],
    ['no time at all', { timeoutSeconds: 0 }, 'spec.timeoutSeconds: must be from 1'],
    ['fewer than one kept', { retention: { maxBackups: 0 } }, 'spec.retention.maxBackups: must be from 1'],
    ['fewer than none kept', { retention: { maxAgeSeconds: -1 } }, 'spec.retention.maxAgeSeconds'],
    ['text for a number', { timeoutSeconds: '1m' }, 'spec.timeoutSeconds: must be a whole number'],
    ['an unknown compression', { compression: 'rar' }, 'must be one of "none", "gzip", "zstd"'],
  ])('with %s is refused', (_title, over, says) => {
    expect(problems(backup(over))).toContain(says);
  });

  it.each(['ftp://b/k', 's3://bucket', 's3://me:secret@b/k', 'bucket/key', 's3:///k', 'file://'])(
    'is not kept at %s',
    (url) => {
      expect(problems(withUrl(url))).toContain('spec.destination.objectURLTemplate: must be the URL of an object');
    },
  );

  it('is read whatever it is, and never crashes', () => {
    fc.assert(fc.property(fc.anything(), (raw) => void improbableBackups.read(raw)));
    fc.assert(fc.property(fc.object(), (raw) => void improbableBackups.read(backup(raw, raw, raw))));
  });
});

describe('what is remembered of an EtcdBackup', () => {
  const isFinished = (status: object) => valueOf(backup({}, status)).memory.isFinished;

  it('is that it is over, whoever made it', () => {
    expect(isFinished({})).toBe(false);
    expect(isFinished({ phase: 'BackingUp' })).toBe(false);
    expect(isFinished({ phase: 'Completed' })).toBe(true);
    expect(isFinished({ phase: 'Failed' })).toBe(true);
  });

  it('is not that it could not be read before it was corrected', () => {
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

  it('goes through the phases of the original, with its times', () => {
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

  it('remembers when the run began that is under way, until its end', () => {
    const underWay: BackupStatus = { ...begun, isUnderWay: true };
    const before = write(underWay);
    const later = new Date('2026-01-01T01:00:00Z');
    expect(write(underWay, before, later)).toEqual(before);
    expect(valueOf(backup({}, before)).memory.begunAt).toBe(now.getTime());
    expect(write(end(true), before, later)).not.toHaveProperty('runStartTime');
  });

  it('is for good once the backup has ended', () => {
    for (const ok of [true, false]) expect(improbableBackups.isOver({ status: write(end(ok)) })).toBe(true);
    expect(improbableBackups.isOver({ status: write(begun) })).toBe(false);
    expect(improbableBackups.isOver({})).toBe(false);
  });

  it('says why it failed', () => {
    expect(write(end(false), write(begun))).toMatchObject({ phase: 'Failed', message: 'no such bucket' });
  });

  it('tells what is doubtful about it', () => {
    const warnings = ['x'.repeat(2000)];
    expect(write(end(true, { url: 's3://b/k', warnings }))).toMatchObject({
      ...{ phase: 'Completed', verified: true, warnings: ['x'.repeat(1024)] },
    });
    expect(improbableBackups.tellEnd({ ok: true, message: 'm', facts: { warnings: ['no leader'] } })).toMatchObject([
      { reason: 'BackupSucceeded' },
      { type: 'Warning', reason: 'BackupDoubtful', message: 'no leader' },
    ]);
    expect(improbableBackups.tellEnd({ ok: false, message: 'm', facts: { warnings } })).toHaveLength(1);
  });

  it('stays the same when nothing changes', () => {
    const before = write(begun);
    expect(write(begun, before, new Date('2026-01-01T01:00:00Z'))).toEqual(before);
  });
});
