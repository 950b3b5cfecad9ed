import { coreos } from '../../src/apis/coreos-v1beta2/dialect.ts';
import { coreosRestores } from '../../src/apis/coreos-v1beta2/restore.ts';
import { improbableRestores } from '../../src/apis/improbable-v1alpha1/backup/restore.ts';
import { improbable } from '../../src/apis/improbable-v1alpha1/dialect.ts';
import type { SimulatedObjects } from './simulated-objects.ts';
import type { Scenario } from './simulated-restore.ts';

const metadata = { name: 'r', namespace: 'n', uid: 'u' };
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const owner = { apiVersion: 'v1', kind: 'EtcdCluster', name: 'db', uid: 'c', controller: true };
export const ownedPart = (name: string): object => ({ metadata: { name, namespace: 'n', ownerReferences: [owner] } });

export const replaced: Scenario = {
  ...{ clusters: coreos, restores: coreosRestores },
  objects: {
    etcdclusters: [
      {
        metadata: { name: 'db', namespace: 'n', uid: 'c' },
        spec: { size: 3, version: '3.6.16', pod: { persistentVolumeClaimSpec: claim } },
        status: { clusterId: 'aaa', bootstrap: { members: ['old-1'], token: 't' } },
      },
    ],
    pods: ['old-1', 'old-2', 'old-3'].map(ownedPart),
    persistentvolumeclaims: ['old-1', 'old-2', 'old-3'].map(ownedPart),
  },
  restore: {
    metadata,
    spec: { etcdCluster: { name: 'db' }, backupStorageType: 'PVC', pvc: { claimName: 'backups', path: 'db' } },
  },
  grown: { readyMembers: 3, size: 3 },
};

export const createdByRestore: Scenario = {
  ...{ clusters: improbable, restores: improbableRestores },
  objects: {},
  restore: {
    metadata,
    spec: {
      source: { objectURL: 'file://backups/db' },
      clusterTemplate: { clusterName: 'db', spec: { replicas: 3, version: '3.6.16' } },
    },
  },
  grown: { readyReplicas: 3, replicas: 3 },
};

/** The cluster does not exist; its spec is in the backup's manifest, with `paused: true`. */
export const recreatedFromBackup: Scenario = {
  ...createdByRestore,
  restore: {
    metadata,
    spec: {
      source: { objectURL: 'file://backups/db' },
      clusterTemplate: { clusterName: 'db', fromBackup: true },
    },
  },
  saved: { apiVersion: 'etcd.improbable.io/v1alpha1', spec: { replicas: 3, version: '3.6.16', paused: true } },
};

/** An EtcdRestore without credentials, as for the original operator. */
export const viaStoreProxy: Scenario = {
  ...createdByRestore,
  restore: {
    metadata,
    spec: {
      source: { objectURL: 's3://backups/db' },
      clusterTemplate: { clusterName: 'db', spec: { replicas: 3, version: '3.6.16' } },
    },
  },
};

/** A member object of the improbable API, without owner: volumes outlive the cluster. */
export const ordinalPart = (name: string): object => ({
  metadata: {
    ...{ name, namespace: 'n' },
    labels: { 'app.kubernetes.io/name': 'etcd', 'etcd.improbable.io/cluster-name': 'db' },
  },
});

export const replacedOrdinal: Scenario = {
  ...createdByRestore,
  objects: {
    etcdclusters: [
      {
        metadata: { name: 'db', namespace: 'n', uid: 'c' },
        spec: { replicas: 3, version: '3.6.16' },
        status: { clusterId: 'aaa', members: [{ name: 'db-0', id: 'a', role: 'voter' }] },
      },
    ],
    pods: ['db-0', 'db-1', 'db-3'].map(ownedPart),
    persistentvolumeclaims: ['db-0', 'db-1', 'db-3'].map(ordinalPart),
  },
  restore: {
    metadata,
    spec: {
      source: { objectURL: 'file://backups/db' },
      clusterTemplate: { clusterName: 'db', spec: { replicas: 1, version: '3.5.35' } },
      replaceExisting: true,
    },
  },
};

export const withManagedTls: Scenario = {
  ...createdByRestore,
  restore: {
    metadata,
    spec: {
      source: { objectURL: 'file://backups/db' },
      clusterTemplate: { clusterName: 'db', spec: { replicas: 3, version: '3.6.16', tls: { managed: {} } } },
    },
  },
};

/** Names of the PVCs of removed members that the cluster keeps for a while. */
export const keptIn = (objects: SimulatedObjects): readonly string[] =>
  objects.all('persistentvolumeclaims').flatMap(({ metadata: { name, labels = {}, annotations = {} } }) => {
    const [group] = Object.keys(labels).flatMap((label) => /^(.*)[/]removed-member$/.exec(label)?.[1] ?? []);
    return group !== undefined && annotations[`${group}/removed-from`] === 'c' ? [name] : [];
  });
