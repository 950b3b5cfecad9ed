import type { ClusterDialect } from '../dialect.ts';
import { tellWait } from '../warnings.ts';
import { clusterLabel, group, readCluster, version } from './intent.ts';
import { safeguards } from './safeguard.ts';
import { tellMembers, tellSpec, tellStep } from './tell.ts';
import { writeProblems, writeStatus, writeUnobserved } from './write-status.ts';

/** The API of the CoreOS etcd Operator, as the book has it. */
export const coreos: ClusterDialect = {
  group,
  version,
  plural: 'etcdclusters',
  kind: 'EtcdCluster',
  podField: 'spec.pod',
  selector: 'app=etcd',
  clusterLabel,
  scopeAnnotation: `${group}/scope`,
  oldLock: { plural: 'endpoints', kind: 'Endpoints', name: 'etcd-operator' },
  hasBackups: true,
  safeguards,
  hasRestores: true,
  read: readCluster,
  writeStatus,
  writeProblems,
  writeUnobserved,
  tellSpec,
  tellStep,
  tellMembers,
  tellWait,
};
