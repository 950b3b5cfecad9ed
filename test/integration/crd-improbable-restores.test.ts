import { expect, it } from 'vitest';
import { improbableRestores } from '../../src/apis/improbable-v1alpha1/backup/restore.ts';
import { accepted, benchFor, done, type ManifestJson, refusal, refused } from './crd-support.ts';

const { withNamespace, judge, offer, create, patch, namespace } = benchFor('crd-improbable-restores');

const source = { objectURL: 's3://bucket/key?region=eu-west-1' };
const clusterTemplate = { clusterName: 'my-etcd', spec: { replicas: 3, version: '3.6.16' } };
const restore = (spec: ManifestJson): ManifestJson => ({
  apiVersion: 'etcd.improbable.io/v1alpha1',
  kind: 'EtcdRestore',
  metadata: { name: 'example' },
  spec: { source, clusterTemplate, ...spec },
});
const from = (objectURL: string): ManifestJson => restore({ source: { objectURL } });
const into = (over: ManifestJson): ManifestJson => restore({ clusterTemplate: { ...clusterTemplate, ...over } });

const eitherOr = 'must have either spec or fromBackup: true';

withNamespace();
judge(
  {
    'an EtcdRestore of the improbable API': [
      ['with the fields of the original operator', restore({}), accepted()],
      ['from a volume', from('file://claim/some/path'), accepted()],
      ['from Azure', from('azblob://container/key?storage_account=me'), accepted()],
      ['with a Secret', restore({ source: { ...source, credentialsSecret: 'aws' } }), accepted()],
      ['without an object URL', restore({ source: {} }), refused('spec.source.objectURL: Required value')],
      ['from a bucket without a key', from('s3://bucket'), refused('must be the URL of an object')],
      ['from an unknown store', from('ftp://bucket/key'), refused('must be the URL of an object')],
      ['with an empty cluster name', into({ clusterName: '' }), refused('must be the name of a cluster')],
      ['with a cluster of another namespace', into({ clusterName: 'n/db' }), refused('must be the name of a cluster')],
      [
        'with a cluster name of 57 letters',
        into({ clusterName: 'd'.repeat(57) }),
        refused('must not be longer than 56 characters'),
      ],
      [
        'with a cluster spec without replicas',
        into({ spec: {} }),
        refused('spec.clusterTemplate.spec.replicas: Required value'),
      ],
      [
        'with fromBackup: true and no spec',
        restore({ clusterTemplate: { clusterName: 'copy', fromBackup: true } }),
        accepted(),
      ],
      ['with a spec and fromBackup: false', into({ fromBackup: false }), accepted()],
      ['with neither spec nor fromBackup', restore({ clusterTemplate: { clusterName: 'copy' } }), refused(eitherOr)],
      [
        'without spec and with fromBackup: false',
        restore({ clusterTemplate: { clusterName: 'copy', fromBackup: false } }),
        refused(eitherOr),
      ],
      ['with a spec and fromBackup: true', into({ fromBackup: true }), refused(eitherOr)],
      ['with 10 replicas', into({ spec: { replicas: 10 } }), refused('spec.clusterTemplate.spec.replicas')],
      ['with a negative revisionBump', restore({ revisionBump: -1 }), refused('must be from 0 to')],
    ],
  },
  improbableRestores.read,
);

it('an EtcdRestore stores the default version in its cluster spec', async () => {
  const { stored } = await offer(into({ spec: { replicas: 1 } }));
  const read = improbableRestores.read(stored);
  expect(read.ok && read.value.template).toMatchObject({
    spec: { replicas: 1, version: expect.stringMatching(/^3\./) },
  });
});

it('the cluster of an EtcdRestore (improbable API) is immutable', async () => {
  await done(create(restore({})));
  const path = `/apis/etcd.improbable.io/v1alpha1/namespaces/${namespace}/etcdrestores/example`;
  expect(await refusal(patch(path, { spec: { clusterTemplate: { clusterName: 'another' } } }))).toContain(
    'spec.clusterTemplate.clusterName: Invalid value: "another": cannot be changed: create another EtcdRestore',
  );
});
