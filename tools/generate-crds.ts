import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { etcdBackupCrd } from '../src/dialects/coreos-v1beta2/backup.ts';
import { etcdClusterCrd } from '../src/dialects/coreos-v1beta2/crd.ts';
import { etcdRestoreCrd } from '../src/dialects/coreos-v1beta2/restore.ts';
import { etcdPeerCrd, etcdClusterCrd as improbableClusterCrd } from '../src/dialects/improbable-v1alpha1/crd.ts';
import { coreosEtcdBackup, coreosEtcdRestore } from './reference-backups.ts';
import { coreosEtcdCluster, improbableEtcdCluster, improbableEtcdPeer } from './reference-pages.ts';

const root = join(import.meta.dirname, '..');

/** Every file that is made from the schemas, with what it must hold. */
export function generated(): Readonly<Record<string, string>> {
  return {
    'examples/coreos/etcd-operator-crd.yaml': crdFile('coreos-v1beta2', etcdClusterCrd()),
    'examples/coreos/etcd-backup-operator-crd.yaml': crdFile('coreos-v1beta2', etcdBackupCrd()),
    'examples/coreos/etcd-restore-operator-crd.yaml': crdFile('coreos-v1beta2', etcdRestoreCrd()),
    'examples/improbable/crd/etcdclusters.yaml': crdFile('improbable-v1alpha1', improbableClusterCrd()),
    'examples/improbable/crd/etcdpeers.yaml': crdFile('improbable-v1alpha1', etcdPeerCrd()),
    'docs/reference/coreos-etcdcluster.md': coreosEtcdCluster(),
    'docs/reference/coreos-etcdbackup.md': coreosEtcdBackup(),
    'docs/reference/coreos-etcdrestore.md': coreosEtcdRestore(),
    'docs/reference/improbable-etcdcluster.md': improbableEtcdCluster(),
    'docs/reference/improbable-etcdpeer.md': improbableEtcdPeer(),
  };
}

const crdFile = (dialect: string, definition: object): string =>
  `# Generated from src/dialects/${dialect} by tools/generate-crds.ts.\n` +
  stringify(definition, { lineWidth: 0, aliasDuplicateObjects: false });

if (import.meta.main) {
  for (const [file, content] of Object.entries(generated())) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), content);
  }
}
