import { describe, expect, it } from 'vitest';
import { safeguards as coreos } from './coreos-v1beta2/safeguard.ts';
import type { SafeguardDialect } from './dialect.ts';
import { safeguards as improbable } from './improbable-v1alpha1/safeguard.ts';

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

describe.each<[string, SafeguardDialect, object]>([
  ['after one in S3', coreos, s3],
  ['after one whose URL is the same for all', improbable, template('s3://bucket/etcd.db?region=eu')],
  ['after one whose URL has a namespace in it', improbable, template('s3://bucket/{{ .Namespace }}/etcd?region=eu')],
  ['after one whose URL has a name in it', improbable, template('s3://bucket/{{ .Name }}')],
])('a backup before an upgrade, made %s', (_, { specLike }, another) => {
  it('is stored under a name of its own, for every cluster and version', () => {
    const specs = clusters.map((of) =>
      JSON.stringify(specLike(another, of)).replace(/"(name|clusterName)":"[^"]*"/, ''),
    );
    expect(new Set(specs).size).toBe(clusters.length);
  });
});

it('tells in its name in the store what it is', () => {
  const of = { namespace: 'prod', cluster: 'db', version };
  expect(coreos.specLike(s3, of)).toMatchObject({ s3: { path: 'bucket/etcd.backup-prod.db-before-3.6.16' } });
  expect(improbable.specLike(template('s3://b/k?region=eu'), of)).toMatchObject({
    ...template('s3://b/k-prod.db-before-3.6.16?region=eu'),
    source: { clusterName: 'db' },
  });
});

describe('how far a backup before an upgrade is', () => {
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
