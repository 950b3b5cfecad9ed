import type { ResourceType } from '../types/resource-type.ts';
import { hasSubresource } from '../types/resource-type.ts';
import type { Strategy } from './strategy.ts';
import { isPathSegment } from './names.ts';

const strategies: Readonly<Record<string, Strategy>> = {
  'rbac.authorization.k8s.io/clusterroles': { checkName: isPathSegment },
};

const custom: Strategy = { counts: true };

export const strategyOf = (type: ResourceType): Strategy =>
  type.custom === undefined ? (strategies[type.collection] ?? {}) : custom;

export const hasStatus = (type: ResourceType): boolean => hasSubresource(type, 'status');
