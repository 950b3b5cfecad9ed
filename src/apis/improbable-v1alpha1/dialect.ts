import type { ClusterDialect } from '../common/dialect.ts';
import { eventsOfWait } from '../common/warnings.ts';
import { preUpgradeBackups } from './backup/pre-upgrade-backup.ts';
import { eventsOfMembers, eventsOfSpec, eventsOfStep } from './events.ts';
import { readCluster } from './intent.ts';
import { group, version } from './names.ts';
import { clusterLabel, nameLabel } from './pod-template.ts';
import { writeProblems, writeStatus, writeUnobserved } from './write-status.ts';

/** The improbable API: etcd.improbable.io/v1alpha1, of Improbable's etcd-cluster-operator. */
export const improbable: ClusterDialect = {
  group,
  version,
  plural: 'etcdclusters',
  kind: 'EtcdCluster',
  podField: 'spec.podTemplate',
  hasBackups: true,
  hasSchedules: true,
  selector: `${nameLabel}=etcd`,
  clusterLabel,
  // The original deletes the PVC of a removed peer with this finalizer.
  peers: { plural: 'etcdpeers', kind: 'EtcdPeer', oldFinalizer: `etcdpeer.${group}/pvc-cleanup` },
  legacyLock: {
    plural: 'configmaps',
    kind: 'ConfigMap',
    name: 'etcd-cluster-operator-controller-leader-election-helper',
    isNamedByFlag: true,
  },
  hadReplicaSets: true,
  hasRestores: true,
  preUpgradeBackups,
  eventSource: 'etcdcluster-reconciler',
  read: readCluster,
  writeStatus,
  writeProblems,
  writeUnobserved,
  eventsOfSpec,
  eventsOfStep,
  eventsOfMembers,
  eventsOfWait,
};
