import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { etcdBackupCrd } from '../src/dialects/coreos-v1beta2/backup.ts';
import { etcdClusterCrd } from '../src/dialects/coreos-v1beta2/crd.ts';
import { etcdRestoreCrd } from '../src/dialects/coreos-v1beta2/restore.ts';
import { etcdBackupCrd as improbableBackupCrd } from '../src/dialects/improbable-v1alpha1/backup.ts';
import { etcdPeerCrd, etcdClusterCrd as improbableClusterCrd } from '../src/dialects/improbable-v1alpha1/crd.ts';
import { etcdRestoreCrd as improbableRestoreCrd } from '../src/dialects/improbable-v1alpha1/restore.ts';
import { etcdBackupScheduleCrd } from '../src/dialects/improbable-v1alpha1/schedule.ts';
import { coreosEtcdBackup, coreosEtcdRestore } from './reference-backups.ts';
import { improbableEtcdBackup, improbableEtcdBackupSchedule } from './reference-improbable-backups.ts';
import { coreosEtcdCluster, improbableEtcdCluster, improbableEtcdPeer } from './reference-pages.ts';
import { improbableEtcdRestore } from './reference-restores.ts';

const root = join(import.meta.dirname, '..');

/** Every file that is made from the schemas, with what it must hold. */
export function generated(): Readonly<Record<string, string>> {
  return {
    'examples/coreos/etcd-operator-crd.yaml': crdFile('coreos-v1beta2', etcdClusterCrd()),
    'examples/coreos/etcd-backup-operator-crd.yaml': crdFile('coreos-v1beta2', etcdBackupCrd()),
    'examples/coreos/etcd-restore-operator-crd.yaml': crdFile('coreos-v1beta2', etcdRestoreCrd()),
    'examples/improbable/crd/etcdbackups.yaml': crdFile('improbable-v1alpha1', improbableBackupCrd()),
    'examples/improbable/crd/etcdbackupschedules.yaml': crdFile('improbable-v1alpha1', etcdBackupScheduleCrd()),
    'examples/improbable/crd/etcdclusters.yaml': crdFile('improbable-v1alpha1', improbableClusterCrd()),
    'examples/improbable/crd/etcdpeers.yaml': crdFile('improbable-v1alpha1', etcdPeerCrd()),
    'examples/improbable/crd/etcdrestores.yaml': crdFile('improbable-v1alpha1', improbableRestoreCrd()),
    'docs/reference/coreos-etcdcluster.md': coreosEtcdCluster(),
    'docs/reference/coreos-etcdbackup.md': coreosEtcdBackup(),
    'docs/reference/coreos-etcdrestore.md': coreosEtcdRestore(),
    'docs/reference/improbable-etcdbackup.md': improbableEtcdBackup(),
    'docs/reference/improbable-etcdbackupschedule.md': improbableEtcdBackupSchedule(),
    'docs/reference/improbable-etcdcluster.md': improbableEtcdCluster(),
    'docs/reference/improbable-etcdpeer.md': improbableEtcdPeer(),
    'docs/reference/improbable-etcdrestore.md': improbableEtcdRestore(),
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
