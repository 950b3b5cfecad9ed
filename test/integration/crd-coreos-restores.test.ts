import { expect, it } from 'vitest';
import { coreosRestores } from '../../src/apis/coreos-v1beta2/restore.ts';
import { accepted, benchFor, done, type ManifestJson, refusal, refused } from './crd-support.ts';

const { withNamespace, judge, create, patch, namespace } = benchFor('crd-restores');

const restore = (spec: ManifestJson): ManifestJson => ({
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
    'an EtcdRestore of the coreos API': [
      ['with the fields of the original operator', restore({}), accepted()],
      ['from a volume', restore({ backupStorageType: 'PVC', pvc: { claimName: 'd', path: 'a.db' } }), accepted()],
      ['without a cluster name', restore({ etcdCluster: {} }), refused('spec.etcdCluster.name: Required value')],
      [
        'with a cluster of another namespace',
        restore({ etcdCluster: { name: 'n/db' } }),
        refused('must be the name of an EtcdCluster'),
      ],
      [
        'without the fields of its store',
        restore({ backupStorageType: 'GCS' }),
        refused('backupStorageType is GCS, so gcs must be set'),
      ],
      ['from an unknown store', restore({ backupStorageType: 'FTP' }), refused('Unsupported value: "FTP"')],
      ['with a negative revisionBump', restore({ revisionBump: -1 }), refused('must be from 0 to')],
    ],
  },
  coreosRestores.read,
);

it('the cluster of an EtcdRestore (coreos API) is immutable', async () => {
  await done(create(restore({})));
  const path = `/apis/etcd.database.coreos.com/v1beta2/namespaces/${namespace}/etcdrestores/example`;
  expect(await refusal(patch(path, { spec: { etcdCluster: { name: 'another' } } }))).toContain(
    'spec.etcdCluster.name: Invalid value: "another": cannot be changed: create another EtcdRestore',
  );
});
