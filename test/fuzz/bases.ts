import type { LabJson } from './lab-api.ts';

/** Valid specs of every kind. Together they set every field that can be set; fields that exclude others are in several. */

const claim = {
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage: '1Gi' }, limits: { storage: '2Gi' } },
  storageClassName: 'standard',
  volumeMode: 'Filesystem',
  selector: { matchLabels: { tier: 'fast' } },
};

const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { tier: 'db' } } };
const expression = { key: 'zone', operator: 'In', values: ['a', 'b'] };

/** The fields of pods that both APIs have. */
const podFields = {
  nodeSelector: { disk: 'ssd' },
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [expression] }] },
    },
    podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 5, podAffinityTerm: term }] },
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] },
  },
  resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: 1, memory: '1.5Gi' } },
  tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'etcd', effect: 'NoExecute', tolerationSeconds: 60 }],
  etcdEnv: [
    { name: 'ETCD_MAX_TXN_OPS', value: '256' },
    { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
  ],
  securityContext: { runAsUser: 1000, runAsGroup: 1000, runAsNonRoot: true, fsGroup: 1000, supplementalGroups: [7] },
  imagePullSecrets: [{ name: 'pull' }],
  priorityClassName: 'system-cluster-critical',
  serviceAccountName: 'default',
  topologySpreadConstraints: [
    {
      topologyKey: 'zone',
      maxSkew: 1,
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: { a: 'b' } },
    },
  ],
};

const texts = { labels: { team: 'db' }, annotations: { 'example.com/owner': 'db', note: 'any text' } };

const settings = {
  version: '3.5.21',
  repository: 'quay.io/coreos/etcd',
  replaceMemberAfterSeconds: 120,
  keepRemovedVolumesSeconds: 60,
  quotaBackendBytes: 2 ** 31,
  autoCompaction: { mode: 'periodic', retention: '1h' },
  backupBeforeUpgrade: { like: 'nightly' },
};

const auth = { operatorCredentials: 'etcd-user' };
const staticTls = { member: { peerSecret: 'peer-tls', serverSecret: 'server-tls' }, operatorSecret: 'client-tls' };
const managedTls = { managed: { certificateLifetimeHours: 48, rotate: '2026-01-01' }, acceptPlainClients: true };

const coreosPod = {
  ...texts,
  ...podFields,
  antiAffinity: true,
  persistentVolumeClaimSpec: claim,
  busyboxImage: 'busybox:1.28.0-glibc',
  DNSTimeoutInSecond: 10,
  ClusterDomain: '.cluster.local',
};

export const coreosClusters: readonly LabJson[] = [
  { size: 3 },
  { size: 1, ...settings, volumeClaimPolicy: 'Retain', pod: coreosPod },
  { size: 1, ...settings, auth, TLS: { static: staticTls }, pod: { antiAffinity: true } },
  { size: 1, version: '3.6.16', paused: false, TLS: managedTls },
];

const improbablePod = { metadata: texts, ...podFields };

export const improbableClusters: readonly LabJson[] = [
  { replicas: 3, version: '3.5.21' },
  {
    ...{ replicas: 1, ...settings, podTemplate: improbablePod },
    storage: { volumeClaimTemplate: claim, volumeClaimPolicy: 'Delete' },
  },
  { replicas: 1, ...settings, auth, tls: { static: staticTls } },
  { replicas: 1, version: '3.6.16', paused: false, tls: managedTls },
];

export const improbablePeers: readonly LabJson[] = [
  {
    clusterName: 'db',
    version: '3.5.21',
    bootstrap: {
      initialClusterState: 'New',
      static: { initialCluster: [{ name: 'db-0', host: 'db-0.db.fuzz.svc' }] },
    },
    storage: { volumeClaimTemplate: claim, volumeClaimPolicy: 'Delete' },
    podTemplate: improbablePod,
  },
];

const policy = { timeoutInSecond: 30, maxBackups: 3, maxAgeInSecond: 3600, suspend: false, compression: 'gzip' };
const times = { schedule: '*/5 * * * *', timeZone: 'Europe/Berlin', startingDeadlineSeconds: 600 };

export const coreosBackups: readonly LabJson[] = [
  {
    ...{
      etcdEndpoints: ['https://db-client:2379', 'db-client:2379'],
      clientTLSSecret: 'client-tls',
      storageType: 'S3',
    },
    s3: { path: 'bucket/key', awsSecret: 'store', endpoint: 'https://s3.example.com:9000', forcePathStyle: true },
    ...{ backupPolicy: { ...policy, ...times }, serviceAccountName: 'default' },
  },
  {
    ...{ etcdEndpoints: ['http://db-client:2379'], storageType: 'GCS' },
    gcs: { path: 'bucket/key', gcpSecret: 'store', endpoint: 'https://gcs.example.com' },
    backupPolicy: { ...policy, backupIntervalInSecond: 600 },
  },
  {
    ...{ etcdCluster: { name: 'db' }, storageType: 'ABS' },
    abs: { path: 'container/key', absSecret: 'store', endpoint: 'https://a.blob.core.windows.net' },
  },
  {
    ...{ etcdEndpoints: ['db-client:2379'], storageType: 'OSS' },
    oss: { path: 'bucket/key', ossSecret: 'store', endpoint: 'https://oss.example.com' },
  },
  { etcdEndpoints: ['db-client:2379'], storageType: 'PVC', pvc: { claimName: 'backups', path: 'etcd/db' } },
];

export const coreosRestores: readonly LabJson[] = coreosBackups.map((backup, index) => ({
  etcdCluster: { name: 'db', create: index % 2 === 0 ? 'FromBackup' : 'Never' },
  backupStorageType: backup['storageType'],
  ...(index === 0 ? { revisionBump: 1_000_000_000, serviceAccountName: 'default' } : {}),
  ...Object.fromEntries(Object.entries(backup).filter(([field]) => /^(s3|abs|gcs|oss|pvc)$/.test(field))),
}));

export const improbableBackups: readonly LabJson[] = [
  {
    source: { clusterURL: 'https://db:2379', tlsSecret: 'client-tls', credentialsSecret: 'etcd-user' },
    destination: { objectURLTemplate: 's3://bucket/{{ .Namespace }}/{{ .UID }}.db', credentialsSecret: 'store' },
    ...{ serviceAccountName: 'default', timeoutSeconds: 30, compression: 'zstd' },
    retention: { maxBackups: 3, maxAgeSeconds: 3600 },
  },
  { source: { clusterName: 'db' }, destination: { objectURLTemplate: 'gs://bucket/{{ .Name }}.db' } },
  { source: { clusterURL: 'db:2379' }, destination: { objectURLTemplate: 'file://backups/{{ .UID }}.db' } },
];

export const improbableSchedules: readonly LabJson[] = improbableBackups.map((backupTemplate, index) => ({
  ...(index === 1 ? { schedule: '@every 1h30m' } : times),
  ...{ suspend: false, successfulBackupsHistoryLimit: 2, failedBackupsHistoryLimit: 1, backupTemplate },
}));

export const improbableRestores: readonly LabJson[] = [
  ...improbableClusters.map((spec) => ({
    source: { objectURL: 's3://bucket/db', credentialsSecret: 'store' },
    clusterTemplate: { clusterName: 'restored', spec },
    ...{ serviceAccountName: 'default', revisionBump: 1_000_000_000, replaceExisting: true },
  })),
  { source: { objectURL: 'file://backups/db' }, clusterTemplate: { clusterName: 'restored', fromBackup: true } },
];
