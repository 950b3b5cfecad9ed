import { expect, it } from 'vitest';
import { coreosRestores } from '../../src/dialects/coreos-v1beta2/restore.ts';
import { accepted, benchFor, done, type Json, refusal, refused } from './crd-support.ts';

const { withNamespace, judge, create, patch, namespace } = benchFor('crd-restores');

const restore = (spec: Json): Json => ({
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdRestore',
  metadata: { name: 'example' },
  spec: {
    etcdCluster: { name: 'example' },
    backupStorageType: 'S3',
    s3: { path: 'bucket/key', awsSecret: 'aws' },
    ...spec,
  },
});

withNamespace();
judge(
  {
    restores: [
      ['as the original has them', restore({}), accepted()],
      ['from a volume', restore({ backupStorageType: 'PVC', pvc: { claimName: 'd', path: 'a.db' } }), accepted()],
      ['of no cluster', restore({ etcdCluster: {} }), refused('spec.etcdCluster.name: Required value')],
      [
        'of a cluster elsewhere',
        restore({ etcdCluster: { name: 'n/db' } }),
        refused('must be the name of an EtcdCluster'),
      ],
      ['from nowhere', restore({ backupStorageType: 'GCS' }), refused('backupStorageType is GCS, so gcs must be set')],
      ['from a store nobody knows', restore({ backupStorageType: 'FTP' }), refused('Unsupported value: "FTP"')],
      ['with revisions that go back', restore({ revisionBump: -1 }), refused('must be from 0 to')],
    ],
  },
  coreosRestores.read,
);

it('is for one cluster, for good', async () => {
  await done(create(restore({})));
  const path = `/apis/etcd.database.coreos.com/v1beta2/namespaces/${namespace}/etcdrestores/example`;
  expect(await refusal(patch(path, { spec: { etcdCluster: { name: 'another' } } }))).toContain(
    'spec.etcdCluster.name: Invalid value: "another": cannot be changed: create another EtcdRestore',
  );
});
