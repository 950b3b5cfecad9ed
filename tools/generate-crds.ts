import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { etcdBackupCrd } from '../src/apis/coreos-v1beta2/backup.ts';
import { etcdClusterCrd } from '../src/apis/coreos-v1beta2/crd.ts';
import { etcdRestoreCrd } from '../src/apis/coreos-v1beta2/restore.ts';
import { etcdBackupCrd as improbableBackupCrd } from '../src/apis/improbable-v1alpha1/backup/backup.ts';
import { etcdRestoreCrd as improbableRestoreCrd } from '../src/apis/improbable-v1alpha1/backup/restore.ts';
import { etcdBackupScheduleCrd } from '../src/apis/improbable-v1alpha1/backup/schedule.ts';
import { etcdPeerCrd, etcdClusterCrd as improbableClusterCrd } from '../src/apis/improbable-v1alpha1/crd.ts';
import { coreosEtcdBackup, coreosEtcdRestore } from './reference-backups.ts';
import { improbableEtcdBackup, improbableEtcdBackupSchedule } from './reference-improbable-backups.ts';
import { operatorFlags, operatorMetrics } from './reference-operator.ts';
import { coreosEtcdCluster, improbableEtcdCluster, improbableEtcdPeer } from './reference-pages.ts';
import { improbableEtcdRestore } from './reference-restores.ts';

const root = join(import.meta.dirname, '..');

/** Every generated file, with its content. */
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
    'docs/reference/flags.md': operatorFlags(),
    'docs/reference/metrics.md': operatorMetrics(),
  };
}

const crdFile = (dialect: string, definition: object): string =>
  `# Generated from src/apis/${dialect} by tools/generate-crds.ts.\n` +
  stringify(definition, { lineWidth: 0, aliasDuplicateObjects: false });

if (import.meta.main) {
  for (const [file, content] of Object.entries(generated())) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), content);
  }
}
