import type { ClusterDialect } from '../dialect.ts';
import { tellWait } from '../warnings.ts';
import { readCluster } from './intent.ts';
import { group, version } from './names.ts';
import { clusterLabel, nameLabel } from './pod-template.ts';
import { tellSpec, tellStep } from './tell.ts';
import { writeProblems, writeStatus } from './write-status.ts';

/** The API of the etcd-cluster-operator by Improbable, as its talk has it. */
export const improbable: ClusterDialect = {
  group,
  version,
  plural: 'etcdclusters',
  kind: 'EtcdCluster',
  selector: `${nameLabel}=etcd`,
  clusterLabel,
  peers: { plural: 'etcdpeers', kind: 'EtcdPeer' },
  speaker: 'etcdcluster-reconciler',
  read: readCluster,
  writeStatus,
  writeProblems,
  tellSpec,
  tellStep,
  tellWait,
};
