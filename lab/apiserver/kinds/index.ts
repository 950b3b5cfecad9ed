import { hasSubresource, type ResourceType } from '../types/resource-type.ts';
import { budgets } from './budgets.ts';
import { definitions } from './definitions.ts';
import { bindings, namespaces, nodes, priorities, roles } from './plain.ts';
import { pods } from './pods.ts';
import { configMaps, secrets } from './secrets.ts';
import { services } from './services.ts';
import { claims, storageClasses, volumes } from './storage.ts';
import type { Strategy } from './strategy.ts';
import { deployments, jobs, replicaSets } from './workloads.ts';

const rbac = 'rbac.authorization.k8s.io';

/** The kinds with behaviour beyond their schemas. */
const strategies: Readonly<Record<string, Strategy>> = {
  '/namespaces': namespaces,
  '/nodes': nodes,
  '/pods': pods,
  '/services': services,
  '/secrets': secrets,
  '/configmaps': configMaps,
  '/persistentvolumeclaims': claims,
  '/persistentvolumes': volumes,
  'storage.k8s.io/storageclasses': storageClasses,
  'apps/deployments': deployments,
  'apps/replicasets': replicaSets,
  'batch/jobs': jobs,
  'policy/poddisruptionbudgets': budgets,
  'scheduling.k8s.io/priorityclasses': priorities,
  'apiextensions.k8s.io/customresourcedefinitions': definitions,
  [`${rbac}/roles`]: roles,
  [`${rbac}/clusterroles`]: roles,
  [`${rbac}/rolebindings`]: bindings,
  [`${rbac}/clusterrolebindings`]: bindings,
};

const custom: Strategy = { hasGeneration: true };

export const strategyOf = (type: ResourceType): Strategy =>
  type.custom === undefined ? (strategies[type.collection] ?? {}) : custom;

export const hasStatus = (type: ResourceType): boolean => hasSubresource(type, 'status');
