import * as coreosBackup from '../../src/apis/coreos-v1beta2/backup.ts';
import * as coreosCluster from '../../src/apis/coreos-v1beta2/crd.ts';
import * as coreosRestore from '../../src/apis/coreos-v1beta2/restore.ts';
import * as improbableBackup from '../../src/apis/improbable-v1alpha1/backup/backup.ts';
import * as improbableRestore from '../../src/apis/improbable-v1alpha1/backup/restore.ts';
import * as improbableSchedule from '../../src/apis/improbable-v1alpha1/backup/schedule.ts';
import * as improbableCluster from '../../src/apis/improbable-v1alpha1/crd.ts';
import type { CustomResourceDefinition, KubeObject } from '../../src/kube/object.ts';
import { namespaced, type Resource } from '../../src/kube/resource.ts';
import type { Api } from '../../test/support/apis.ts';

/** All definitions of an API. */
export const crdsOf = ({ name }: Api): readonly CustomResourceDefinition[] =>
  name === 'coreos'
    ? [coreosCluster.etcdClusterCrd(), coreosBackup.etcdBackupCrd(), coreosRestore.etcdRestoreCrd()]
    : [
        ...[improbableCluster.etcdClusterCrd(), improbableCluster.etcdPeerCrd(), improbableBackup.etcdBackupCrd()],
        ...[improbableRestore.etcdRestoreCrd(), improbableSchedule.etcdBackupScheduleCrd()],
      ];

/** The resource of peers, if the API has one. */
export const peersOf = ({ name }: Api): readonly Resource<KubeObject>[] =>
  name === 'coreos'
    ? []
    : [namespaced({ group: 'etcd.improbable.io', version: 'v1alpha1', plural: 'etcdpeers', kind: 'EtcdPeer' })];
