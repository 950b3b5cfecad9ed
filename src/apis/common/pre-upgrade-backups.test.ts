import { describe, expect, it } from 'vitest';
import { preUpgradeBackups as coreos } from '../coreos-v1beta2/pre-upgrade-backup.ts';
import { preUpgradeBackups as improbable } from '../improbable-v1alpha1/backup/pre-upgrade-backup.ts';
import type { PreUpgradeBackupDialect } from './dialect.ts';

const version = '3.6.16';
const clusters = [
  { namespace: 'a', cluster: 'b', version },
  { namespace: 'a', cluster: 'c', version },
  { namespace: 'a-b', cluster: 'c', version },
  { namespace: 'a', cluster: 'b-c', version },
  { namespace: 'a', cluster: 'b', version: '3.7.3' },
];

const s3 = { storageType: 'S3', s3: { path: 'bucket/etcd.backup', awsSecret: 'aws' } };
const template = (objectURLTemplate: string) => ({ destination: { objectURLTemplate } });

describe.each<[string, PreUpgradeBackupDialect, object]>([
  ['an S3 backup', coreos, s3],
  ['a backup with a fixed URL', improbable, template('s3://bucket/etcd.db?region=eu')],
  ['a backup with the namespace in its URL', improbable, template('s3://bucket/{{ .Namespace }}/etcd?region=eu')],
  ['a backup with its name in the URL', improbable, template('s3://bucket/{{ .Name }}')],
])('a pre-upgrade backup from the template of %s', (_, { specFrom }, backup) => {
  it('is stored under a unique name for each cluster and version', () => {
    const specs = clusters.map((of) =>
      JSON.stringify(specFrom(backup, of)).replace(/"(name|clusterName)":"[^"]*"/, ''),
    );
    expect(new Set(specs).size).toBe(clusters.length);
  });
});

it('the object of a pre-upgrade backup is named after namespace, cluster and version', () => {
  const of = { namespace: 'prod', cluster: 'db', version };
  expect(coreos.specFrom(s3, of)).toMatchObject({ s3: { path: 'bucket/etcd.backup-prod.db-before-3.6.16' } });
  expect(improbable.specFrom(template('s3://b/k?region=eu'), of)).toMatchObject({
    ...template('s3://b/k-prod.db-before-3.6.16?region=eu'),
    source: { clusterName: 'db' },
  });
});

describe('the state of a pre-upgrade backup', () => {
  const conditions = (reason: string) => [{ type: 'Progressing', status: 'True', reason }];

  it.each([
    ['under-way', {}],
    ['under-way', { Reason: 'it waited', conditions: conditions('Saving') }],
    ['blocked', { succeeded: false, Reason: 'no', conditions: conditions('BackupBlocked') }],
    ['blocked', { succeeded: false, Reason: 'no', conditions: conditions('BadSpec') }],
    ['failed', { succeeded: false, Reason: 'no', lastScheduleTime: '2026-01-01T00:00:00Z' }],
    ['good', { succeeded: true }],
  ])('is %s in the coreos API: %j', (state, status) => {
    expect(coreos.stateOf({ status })).toMatchObject({ state });
  });

  it.each([
    ['under-way', {}],
    ['under-way', { phase: 'BackingUp', conditions: conditions('Saving') }],
    ['blocked', { phase: 'BackingUp', message: 'no', conditions: conditions('BackupBlocked') }],
    ['blocked', { phase: 'Failed', message: 'no', conditions: conditions('BadSpec') }],
    ['failed', { phase: 'Failed', message: 'no' }],
    ['good', { phase: 'Completed' }],
  ])('is %s in the improbable API: %j', (state, status) => {
    expect(improbable.stateOf({ status })).toMatchObject({ state });
  });
});
