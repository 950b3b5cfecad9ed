import { expect, it } from 'vitest';
import { improbableRestores } from '../../src/dialects/improbable-v1alpha1/restore.ts';
import { accepted, benchFor, done, type Json, refusal, refused } from './crd-support.ts';

const { withNamespace, judge, offer, create, patch, namespace } = benchFor('crd-improbable-restores');

const source = { objectURL: 's3://bucket/key?region=eu-west-1' };
const clusterTemplate = { clusterName: 'my-etcd', spec: { replicas: 3, version: '3.6.16' } };
const restore = (spec: Json): Json => ({
  apiVersion: 'etcd.improbable.io/v1alpha1',
  kind: 'EtcdRestore',
  metadata: { name: 'example' },
  spec: { source, clusterTemplate, ...spec },
});
const from = (objectURL: string): Json => restore({ source: { objectURL } });
const into = (over: Json): Json => restore({ clusterTemplate: { ...clusterTemplate, ...over } });

const eitherOr = 'must have either spec, or fromBackup: true';

withNamespace();
judge(
  {
    restores: [
      ['as the original has them', restore({}), accepted()],
      ['from a volume', from('file://claim/some/path'), accepted()],
      ['from Azure', from('azblob://container/key?storage_account=me'), accepted()],
      ['with a Secret', restore({ source: { ...source, credentialsSecret: 'aws' } }), accepted()],
      ['from nowhere', restore({ source: {} }), refused('spec.source.objectURL: Required value')],
      ['from a bucket', from('s3://bucket'), refused('must be the URL of an object')],
      ['from a store nobody knows', from('ftp://bucket/key'), refused('must be the URL of an object')],
      ['of no name', into({ clusterName: '' }), refused('must be the name of a cluster')],
      ['of a name elsewhere', into({ clusterName: 'n/db' }), refused('must be the name of a cluster')],
      ['of too long a name', into({ clusterName: 'd'.repeat(57) }), refused('must not be longer than 56 characters')],
      [
        'of a cluster without a size',
        into({ spec: {} }),
        refused('spec.clusterTemplate.spec.replicas: Required value'),
      ],
      ['of a cluster as it was', restore({ clusterTemplate: { clusterName: 'copy', fromBackup: true } }), accepted()],
      ['of a cluster as it is written', into({ fromBackup: false }), accepted()],
      ['of no cluster', restore({ clusterTemplate: { clusterName: 'copy' } }), refused(eitherOr)],
      [
        'of no cluster, in so many words',
        restore({ clusterTemplate: { clusterName: 'copy', fromBackup: false } }),
        refused(eitherOr),
      ],
      ['of two clusters', into({ fromBackup: true }), refused(eitherOr)],
      ['of too many members', into({ spec: { replicas: 10 } }), refused('spec.clusterTemplate.spec.replicas')],
      ['with revisions that go back', restore({ revisionBump: -1 }), refused('must be from 0 to')],
    ],
  },
  improbableRestores.read,
);

it('fills in what the cluster is made with, once and for all', async () => {
  const { stored } = await offer(into({ spec: { replicas: 1 } }));
  const read = improbableRestores.read(stored);
  expect(read.ok && read.value.template).toMatchObject({
    spec: { replicas: 1, version: expect.stringMatching(/^3\./) },
  });
});

it('is for one cluster, for good', async () => {
  await done(create(restore({})));
  const path = `/apis/etcd.improbable.io/v1alpha1/namespaces/${namespace}/etcdrestores/example`;
  expect(await refusal(patch(path, { spec: { clusterTemplate: { clusterName: 'another' } } }))).toContain(
    'spec.clusterTemplate.clusterName: Invalid value: "another": cannot be changed: create another EtcdRestore',
  );
});
