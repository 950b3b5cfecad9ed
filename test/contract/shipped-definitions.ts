import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

const byFile: Readonly<Record<string, string>> = {
  'examples/coreos/etcd-operator-crd.yaml': 'etcdclusters.etcd.database.coreos.com',
  'examples/coreos/etcd-backup-operator-crd.yaml': 'etcdbackups.etcd.database.coreos.com',
  'examples/coreos/etcd-restore-operator-crd.yaml': 'etcdrestores.etcd.database.coreos.com',
  'examples/improbable/crd/etcdbackups.yaml': 'etcdbackups.etcd.improbable.io',
  'examples/improbable/crd/etcdbackupschedules.yaml': 'etcdbackupschedules.etcd.improbable.io',
  'examples/improbable/crd/etcdclusters.yaml': 'etcdclusters.etcd.improbable.io',
  'examples/improbable/crd/etcdpeers.yaml': 'etcdpeers.etcd.improbable.io',
  'examples/improbable/crd/etcdrestores.yaml': 'etcdrestores.etcd.improbable.io',
};

/** The definitions of both APIs as users install them. */
export const shippedDefinitions = {
  files: Object.keys(byFile).map((file) => join(root, file)),
  names: Object.values(byFile),
} as const;
