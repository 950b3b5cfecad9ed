import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RestoreVerdict } from '../../../core/restore/step.ts';
import type { ReadRestore } from '../../common/restore-dialect.ts';
import { readCluster } from '../intent.ts';
import { improbableRestores } from './restore.ts';

/** The example in the original's documentation. */
const spec = {
  source: { objectURL: 's3://bucket/some/key?region=eu-west-1' },
  clusterTemplate: { clusterName: 'db', spec: { replicas: 3, version: '3.6.16' } },
};
const restore = (over: object = {}, status?: object): unknown => ({
  apiVersion: 'etcd.improbable.io/v1alpha1',
  kind: 'EtcdRestore',
  metadata: { name: 'r', namespace: 'n', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { ...spec, ...over },
  ...(status === undefined ? {} : { status }),
});
const valueOf = (raw: unknown): ReadRestore => {
  const read = improbableRestores.read(raw);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value;
};
const problems = (raw: unknown): string => {
  const read = improbableRestores.read(raw);
  return read.ok ? '' : read.problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
};
const template = (over: object): object => ({ clusterTemplate: { ...spec.clusterTemplate, ...over } });

describe('an EtcdRestore', () => {
  it('names a backup, and has the spec of the cluster to create', () => {
    const read = valueOf(restore());
    expect(read.intent).toMatchObject({
      ...{ cluster: 'db', into: 'new', serviceAccountName: undefined, revisionBump: undefined },
      credentials: 'operators',
      store: { url: spec.source.objectURL, field: 'spec.source.objectURL', secret: undefined },
    });
    expect(read.template).toEqual({ spec: spec.clusterTemplate.spec });
  });

  it('can create the cluster with the spec saved in the backup', () => {
    const saved = { clusterTemplate: { clusterName: 'copy', fromBackup: true } };
    expect(valueOf(restore(saved))).toMatchObject({ intent: { into: 'new', cluster: 'copy' }, template: 'in-backup' });
    expect(valueOf(restore(template({ fromBackup: false }))).template).toEqual({ spec: spec.clusterTemplate.spec });
    expect(improbableRestores.manualRestoreHint('copy')).toContain(
      'spec of EtcdCluster "copy" in clusterTemplate.spec',
    );
  });

  it('may have store credentials and a revisionBump', () => {
    const source = { ...spec.source, credentialsSecret: 'aws' };
    expect(valueOf(restore({ source, serviceAccountName: 'reader', revisionBump: 1000 })).intent).toMatchObject({
      ...{ store: { secret: 'aws' }, serviceAccountName: 'reader', revisionBump: 1000 },
    });
  });

  it('uses its own credentials if it names any, and on a volume', () => {
    const of = (over: object): string => valueOf(restore(over)).intent.credentials;
    expect(of({ source: { ...spec.source, credentialsSecret: 'aws' } })).toBe('own');
    expect(of({ serviceAccountName: 'reader' })).toBe('own');
    expect(of({ source: { objectURL: 'file://claim/db' } })).toBe('own');
    expect(of({ source: { ...spec.source, credentialsSecret: '' } })).toBe('operators');
  });

  it.each<[string, object, string]>([
    ['no source', { source: undefined }, 'spec.source: must be set'],
    ['no URL', { source: { objectURL: 'bucket/key' } }, 'spec.source.objectURL: must be the URL of an object'],
    ['an unknown store', { source: { objectURL: 'ftp://a/b' } }, 'spec.source.objectURL: must be the URL'],
    ['a bucket without a key', { source: { objectURL: 's3://bucket/' } }, 'spec.source.objectURL: must be the URL'],
    ['no name', template({ clusterName: '' }), 'spec.clusterTemplate.clusterName: must be the name of a cluster'],
    [
      'a name in another namespace',
      template({ clusterName: 'n/db' }),
      'spec.clusterTemplate.clusterName: must be the name',
    ],
    ['a long name', template({ clusterName: 'd'.repeat(57) }), 'clusterName: must not be longer than 56'],
    [
      'an invalid cluster spec',
      template({ spec: { replicas: 0 } }),
      'spec.clusterTemplate.spec.replicas: must be from 1',
    ],
    [
      'neither spec nor fromBackup',
      template({ spec: undefined }),
      'clusterTemplate: must have either spec or fromBackup: true',
    ],
    [
      'spec and fromBackup',
      template({ fromBackup: true }),
      'clusterTemplate: must have either spec or fromBackup: true',
    ],
    ['a negative revisionBump', { revisionBump: -1 }, 'spec.revisionBump: must be from 0'],
  ])('with %s is refused', (_title, over, message) => {
    expect(problems(restore(over))).toContain(message);
  });

  it('with any content is read without an exception', () => {
    fc.assert(fc.property(fc.anything(), (raw) => void improbableRestores.read(raw)));
    fc.assert(fc.property(fc.object(), (raw) => void improbableRestores.read(restore(raw as object, raw as object))));
  });

  it('that the original has finished is not repeated', () => {
    expect(valueOf(restore({}, { phase: 'Pending' })).memory.phase).toBe('proving');
    expect(valueOf(restore({}, { phase: 'Completed' })).memory.phase).toBe('complete');
    expect(valueOf(restore({}, { phase: 'Failed' })).memory.phase).toBe('failed');
  });
});

describe('the status of an EtcdRestore', () => {
  const now = new Date('2026-01-01T00:00:05Z');
  const write = (verdict: RestoreVerdict, previous: unknown = {}) =>
    improbableRestores.writeStatus({ verdict, facts: {}, generation: 1, now }, previous);
  const memoryAfter = (status: object) => valueOf(restore({}, status)).memory;

  it('is Pending until the end, and has the memory that the next pass depends on', () => {
    const waiting = write({ is: 'wait', message: 'no Secret', isBlocked: true });
    expect(waiting).toMatchObject({ phase: 'Pending', stage: 'Proving', reason: 'no Secret' });
    const seeding = write({ is: 'enter', phase: 'seeding', seed: 'db-0', message: '' }, waiting);
    expect(seeding).toMatchObject({ phase: 'Pending', stage: 'Seeding' });
    expect(memoryAfter(seeding)).toMatchObject({ phase: 'seeding', seed: 'db-0', since: now.getTime() });
    const switching = write({ is: 'enter', phase: 'switching', clusterId: 'bbb', message: '' }, seeding);
    expect(memoryAfter(switching)).toMatchObject({ phase: 'switching', seed: 'db-0', clusterId: 'bbb' });
  });

  it("has the original's phases at the end", () => {
    const complete = write({ is: 'enter', phase: 'complete', message: 'it serves' });
    expect(complete).toMatchObject({ phase: 'Completed', stage: 'Complete', reason: '' });
    expect(memoryAfter(complete).phase).toBe('complete');
    const failed = write({ is: 'enter', phase: 'failed', message: 'no' });
    expect(failed).toMatchObject({ phase: 'Failed', stage: 'Failed', reason: 'no' });
    expect(memoryAfter(failed).phase).toBe('failed');
  });

  it('of an invalid spec has the problems and stays Pending', () => {
    const status = improbableRestores.writeProblems('spec.source: must be set', {}, now);
    expect(status).toMatchObject({ phase: 'Pending', reason: 'spec.source: must be set' });
    expect(memoryAfter(status).phase).toBe('proving');
  });
});

describe('a cluster created from a backup', () => {
  const metadata = { name: 'db', namespace: 'n', uid: 'c' };

  it('has the seed and the cluster ID in its memory', () => {
    const memory = { seed: 'db-0', token: 'n.db.u', clusterId: 'bbb', memberId: 'abc', version: '3.6.16' };
    const status = improbableRestores.rewriteMemory({ heldBy: 'u', members: [] }, memory);
    const read = readCluster({ metadata, spec: { replicas: 3 }, status });
    expect(read.ok && read.value.memory).toEqual({
      clusterId: 'bbb',
      bootstrap: { members: ['db-0'], token: 'n.db.u' },
      voters: ['db-0'],
      version: '3.6.16',
    });
  });

  it('is paused while the restore holds it', () => {
    const annotations = { [improbableRestores.holdAnnotation]: 'u' };
    const read = readCluster({ metadata: { ...metadata, annotations }, spec: { replicas: 3 } });
    expect(read.ok && read.value.blueprint.intent).toMatchObject({ paused: true, heldBy: 'u' });
  });

  it('has the numbers of members and of ready members in its status', () => {
    expect(improbableRestores.countsIn({ replicas: 3, readyReplicas: 2 })).toEqual({ size: 3, ready: 2 });
    expect(improbableRestores.countsIn({})).toEqual({ size: undefined, ready: undefined });
  });
});
