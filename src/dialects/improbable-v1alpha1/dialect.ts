import type { ClusterDialect } from '../dialect.ts';
import { tellWait } from '../warnings.ts';
import { readCluster } from './intent.ts';
import { group, version } from './names.ts';
import { clusterLabel, nameLabel } from './pod-template.ts';
import { safeguards } from './safeguard.ts';
import { tellMembers, tellService, tellSpec, tellStep } from './tell.ts';
import { writeProblems, writeStatus, writeUnobserved } from './write-status.ts';

/** The API of the etcd-cluster-operator by Improbable, as its talk has it. */
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
  // By it the original deletes the volume of a peer that is scaled away.
  peers: { plural: 'etcdpeers', kind: 'EtcdPeer', oldFinalizer: `etcdpeer.${group}/pvc-cleanup` },
  oldLock: {
    plural: 'configmaps',
    kind: 'ConfigMap',
    name: 'etcd-cluster-operator-controller-leader-election-helper',
    isNamedByFlag: true,
  },
  hadReplicaSets: true,
  hasRestores: true,
  safeguards,
  speaker: 'etcdcluster-reconciler',
  read: readCluster,
  writeStatus,
  writeProblems,
  writeUnobserved,
  tellSpec,
  tellStep,
  tellMembers,
  tellService,
  tellWait,
};
