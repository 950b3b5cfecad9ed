import type { ClusterDialect } from '../common/dialect.ts';
import { eventsOfWait } from '../common/warnings.ts';
import { eventsOfMembers, eventsOfSpec, eventsOfStep } from './events.ts';
import { clusterLabel, group, readCluster, version } from './intent.ts';
import { preUpgradeBackups } from './pre-upgrade-backup.ts';
import { writeProblems, writeStatus, writeUnobserved } from './write-status.ts';

/** The coreos API: etcd.database.coreos.com/v1beta2, of the CoreOS etcd Operator. */
export const coreos: ClusterDialect = {
  group,
  version,
  plural: 'etcdclusters',
  kind: 'EtcdCluster',
  podField: 'spec.pod',
  selector: 'app=etcd',
  clusterLabel,
  scopeAnnotation: `${group}/scope`,
  legacyLock: { plural: 'endpoints', kind: 'Endpoints', name: 'etcd-operator' },
  hasBackups: true,
  preUpgradeBackups,
  hasRestores: true,
  read: readCluster,
  writeStatus,
  writeProblems,
  writeUnobserved,
  eventsOfSpec,
  eventsOfStep,
  eventsOfMembers,
  eventsOfWait,
};
