import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RestoreVerdict } from '../../core/restore/step.ts';
import type { ReadRestore } from '../common/restore-dialect.ts';
import { readCluster } from './intent.ts';
import { coreosRestores } from './restore.ts';

const spec = {
  etcdCluster: { name: 'db' },
  backupStorageType: 'S3',
  s3: { path: 'bucket/some/key', awsSecret: 'aws' },
};
const restore = (over: object = {}, status?: object): unknown => ({
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdRestore',
  metadata: { name: 'r', namespace: 'n', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { ...spec, ...over },
  ...(status === undefined ? {} : { status }),
});
const valueOf = (raw: unknown): ReadRestore => {
  const read = coreosRestores.read(raw);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value;
};
const problems = (raw: unknown): string => {
  const read = coreosRestores.read(raw);
  return read.ok ? '' : read.problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
};

describe('an EtcdRestore', () => {
  it('names a cluster and a backup', () => {
    expect(valueOf(restore()).intent).toMatchObject({
      cluster: 'db',
      store: { kind: 's3', path: 'bucket/some/key', secret: 'aws' },
    });
  });

  it('can create the cluster with the spec saved in the backup', () => {
    expect(valueOf(restore())).toMatchObject({ intent: { into: 'existing' }, template: undefined });
    const made = valueOf(restore({ etcdCluster: { name: 'copy', create: 'FromBackup' } }));
    expect(made).toMatchObject({ intent: { into: 'new', cluster: 'copy' }, template: 'in-backup' });
    expect(problems(restore({ etcdCluster: { name: 'copy', create: 'Always' } }))).toContain('spec.etcdCluster.create');
  });

  it.each<[string, object, string]>([
    ['no cluster', { etcdCluster: undefined }, 'spec.etcdCluster: must be set'],
    ['a cluster in another namespace', { etcdCluster: { name: 'other/db' } }, 'spec.etcdCluster.name'],
    ['no store', { s3: undefined }, 'backupStorageType is S3, so s3 must be set'],
    ['an unknown store', { backupStorageType: 'FTP' }, 'spec.backupStorageType: must be one of'],
    ['a negative revisionBump', { revisionBump: -1 }, 'spec.revisionBump: must be from 0'],
  ])('with %s is refused', (_title, over, message) => {
    expect(problems(restore(over))).toContain(message);
  });

  it('with any content is read without an exception', () => {
    fc.assert(fc.property(fc.anything(), (raw) => void coreosRestores.read(raw)));
    fc.assert(fc.property(fc.object(), (raw) => void coreosRestores.read(restore(raw as object, raw as object))));
  });

  it('that the original has finished is not repeated', () => {
    expect(valueOf(restore()).memory.phase).toBe('proving');
    expect(valueOf(restore({}, { succeeded: true })).memory.phase).toBe('complete');
    expect(valueOf(restore({}, { succeeded: false, reason: 'no' })).memory.phase).toBe('failed');
  });
});

describe('the status of an EtcdRestore', () => {
  const now = new Date('2026-01-01T00:00:05Z');
  const write = (verdict: RestoreVerdict, previous: unknown = {}) =>
    coreosRestores.writeStatus({ verdict, facts: {}, generation: 1, now }, previous);
  const memoryAfter = (status: object) => valueOf(restore({}, status)).memory;

  it('has the memory that the next pass depends on', () => {
    const seeding = write({ is: 'enter', phase: 'seeding', seed: 'db-new', message: '' });
    expect(memoryAfter(seeding)).toMatchObject({ phase: 'seeding', seed: 'db-new', since: now.getTime() });
    const switching = write({ is: 'enter', phase: 'switching', clusterId: 'bbb', message: '' }, seeding);
    expect(memoryAfter(switching)).toMatchObject({ phase: 'switching', seed: 'db-new', clusterId: 'bbb' });
  });

  it('measures the first phase from the first check of the backup, and not the block before it', () => {
    const blocked = write({ is: 'wait', message: 'no Secret', isBlocked: true });
    expect(memoryAfter(blocked).since).toBe(now.getTime() - 5_000);
    const checking = write({ is: 'act', step: { kind: 'prove' }, message: '' }, blocked);
    expect(memoryAfter(checking)).toMatchObject({ phase: 'proving', since: now.getTime() });
    const again = { verdict: { is: 'act', step: { kind: 'prove' }, message: '' }, facts: {}, generation: 1 } as const;
    const later = coreosRestores.writeStatus({ ...again, now: new Date('2026-01-01T01:00:00Z') }, checking);
    expect(memoryAfter(later).since).toBe(now.getTime());
  });

  it('has the progress of reading, updated with each tenth, until reading ends', () => {
    const reading = (bytes: number): RestoreVerdict => ({
      ...{ is: 'wait', message: '' },
      progress: { phase: 'fetching', bytes, totalBytes: 1000, bytesPerSecond: 7 },
    });
    const first = write(reading(110));
    expect(first).toMatchObject({ progress: { bytes: 110, totalBytes: 1000, bytesPerSecond: 7 } });
    expect(write(reading(190), first)).toEqual(first);
    expect(write(reading(200), first)).toMatchObject({ progress: { bytes: 200 } });
    expect(write({ is: 'wait', message: '' }, first)).not.toHaveProperty('progress');
    expect(write({ is: 'enter', phase: 'switching', message: '' }, first)).not.toHaveProperty('progress');
  });

  it('has the result, and does not change afterwards', () => {
    const complete = write({ is: 'enter', phase: 'complete', message: 'it serves' });
    expect(complete).toMatchObject({ phase: 'Complete', succeeded: true, reason: '' });
    const cleanup = write({ is: 'act', step: { kind: 'unpin' }, message: 'over' }, complete);
    expect(cleanup).toEqual(complete);
    expect(write({ is: 'enter', phase: 'failed', message: 'no' })).toMatchObject({ succeeded: false, reason: 'no' });
  });
});

describe('a cluster with replaced members', () => {
  const metadata = { name: 'db', namespace: 'n', uid: 'c' };

  it('has the seed and the new cluster ID in its memory, and no old member', () => {
    const before = {
      clusterId: 'aaa',
      bootstrap: { members: ['db-1', 'db-2'], token: 't' },
      memberStatus: [{ name: 'db-1', role: 'voter' }],
      conditions: [],
    };
    const memory = { seed: 'db-new', token: 'n.db.c.u', clusterId: 'bbb', memberId: 'c', version: '3.6.16' };
    const status = coreosRestores.rewriteMemory(before, memory);
    const read = readCluster({ metadata, spec: { size: 3 }, status });
    expect(read.ok && read.value.memory).toEqual({
      clusterId: 'bbb',
      bootstrap: { members: ['db-new'], token: 'n.db.c.u' },
      voters: ['db-new'],
      version: '3.6.16',
    });
  });

  it('is paused while the restore holds it', () => {
    const annotations = { [coreosRestores.holdAnnotation]: 'u' };
    const read = readCluster({ metadata: { ...metadata, annotations }, spec: { size: 3 } });
    expect(read.ok && read.value.blueprint.intent).toMatchObject({ paused: true, heldBy: 'u' });
  });
});
