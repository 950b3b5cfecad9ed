import type {
  AuthenticationV1TokenRequest,
  V1ConfigMap,
  V1Deployment,
  V1Job,
  V1PersistentVolume,
  V1ReplicaSet,
  V1ServiceAccount,
  V1StorageClass,
} from '@kubernetes/client-node';
import type { Json, KubeObject } from '../src/kube/object.ts';
import { clusterWide, namespaced } from '../src/kube/resource.ts';

/** Kinds that only the lab's controllers and kubelets use. */
type Known<T> = Omit<Json<T>, keyof KubeObject> & KubeObject;

export type ConfigMap = Known<V1ConfigMap>;
export type ServiceAccount = Known<V1ServiceAccount>;
export type PersistentVolume = Known<V1PersistentVolume>;
export type StorageClass = Known<V1StorageClass>;
export type Deployment = Known<V1Deployment>;
export type ReplicaSet = Known<V1ReplicaSet>;
export type Job = Known<V1Job>;
export type TokenRequest = Known<AuthenticationV1TokenRequest>;

const core = (plural: string, kind: string) => ({ group: '', version: 'v1', plural, kind });
const apps = (plural: string, kind: string) => ({ group: 'apps', version: 'v1', plural, kind });

export const configMaps = namespaced<ConfigMap>(core('configmaps', 'ConfigMap'));
export const serviceAccounts = namespaced<ServiceAccount>(core('serviceaccounts', 'ServiceAccount'));
export const tokenRequests = namespaced<TokenRequest>(core('serviceaccounts', 'ServiceAccount'));
export const persistentVolumes = clusterWide<PersistentVolume>(core('persistentvolumes', 'PersistentVolume'));
export const storageClasses = clusterWide<StorageClass>({
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'storageclasses',
  kind: 'StorageClass',
});
export const deployments = namespaced<Deployment>(apps('deployments', 'Deployment'));
export const replicaSets = namespaced<ReplicaSet>(apps('replicasets', 'ReplicaSet'));
export const jobs = namespaced<Job>({ group: 'batch', version: 'v1', plural: 'jobs', kind: 'Job' });
