import { coreos } from '../../src/dialects/coreos-v1beta2/dialect.ts';
import { coreosRestores } from '../../src/dialects/coreos-v1beta2/restore.ts';
import { improbable } from '../../src/dialects/improbable-v1alpha1/dialect.ts';
import { improbableRestores } from '../../src/dialects/improbable-v1alpha1/restore.ts';
import type { SimulatedObjects } from './simulated-objects.ts';
import type { Tale } from './simulated-restore.ts';

const metadata = { name: 'r', namespace: 'n', uid: 'u' };
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const owner = { apiVersion: 'v1', kind: 'EtcdCluster', name: 'db', uid: 'c', controller: true };
export const part = (name: string): object => ({ metadata: { name, namespace: 'n', ownerReferences: [owner] } });

export const replaced: Tale = {
  ...{ clusters: coreos, restores: coreosRestores },
  objects: {
    etcdclusters: [
      {
        metadata: { name: 'db', namespace: 'n', uid: 'c' },
        spec: { size: 3, version: '3.6.16', pod: { persistentVolumeClaimSpec: claim } },
        status: { clusterId: 'aaa', bootstrap: { members: ['old-1'], token: 't' } },
      },
    ],
    pods: ['old-1', 'old-2', 'old-3'].map(part),
    persistentvolumeclaims: ['old-1', 'old-2', 'old-3'].map(part),
  },
  restore: {
    metadata,
    spec: { etcdCluster: { name: 'db' }, backupStorageType: 'PVC', pvc: { claimName: 'backups', path: 'db' } },
  },
  grown: { readyMembers: 3, size: 3 },
};

export const made: Tale = {
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

/** The cluster is gone, and only the store says what it was: it was paused. */
export const comesBack: Tale = {
  ...made,
  restore: {
    metadata,
    spec: {
      source: { objectURL: 'file://backups/db' },
      clusterTemplate: { clusterName: 'db', fromBackup: true },
    },
  },
  saved: { apiVersion: 'etcd.improbable.io/v1alpha1', spec: { replicas: 3, version: '3.6.16', paused: true } },
};

/** As the original writes it: no credentials are in it. */
export const carried: Tale = {
  ...made,
  restore: {
    metadata,
    spec: {
      source: { objectURL: 's3://backups/db' },
      clusterTemplate: { clusterName: 'db', spec: { replicas: 3, version: '3.6.16' } },
    },
  },
};

/** Members and volumes as that API keeps them: volumes are nobody's. */
export const numbered = (name: string): object => ({
  metadata: {
    ...{ name, namespace: 'n' },
    labels: { 'app.kubernetes.io/name': 'etcd', 'etcd.improbable.io/cluster-name': 'db' },
  },
});

export const replacedByName: Tale = {
  ...made,
  objects: {
    etcdclusters: [
      {
        metadata: { name: 'db', namespace: 'n', uid: 'c' },
        spec: { replicas: 3, version: '3.6.16' },
        status: { clusterId: 'aaa', members: [{ name: 'db-0', id: 'a', role: 'voter' }] },
      },
    ],
    pods: ['db-0', 'db-1', 'db-3'].map(part),
    persistentvolumeclaims: ['db-0', 'db-1', 'db-3'].map(numbered),
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

export const certified: Tale = {
  ...made,
  restore: {
    metadata,
    spec: {
      source: { objectURL: 'file://backups/db' },
      clusterTemplate: { clusterName: 'db', spec: { replicas: 3, version: '3.6.16', tls: { managed: {} } } },
    },
  },
};

/** The volumes of removed members, which their cluster keeps for a while. */
export const keptIn = (objects: SimulatedObjects): readonly string[] =>
  objects.all('persistentvolumeclaims').flatMap(({ metadata: { name, labels = {}, annotations = {} } }) => {
    const [group] = Object.keys(labels).flatMap((label) => /^(.*)[/]removed-member$/.exec(label)?.[1] ?? []);
    return group !== undefined && annotations[`${group}/removed-from`] === 'c' ? [name] : [];
  });
