import { at, fieldsOf, fill, put, same } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { isLabel, isPathSegment } from './names.ts';
import type { Strategy } from './strategy.ts';

export const namespaces: Strategy = {
  checkName: isLabel,
  prepare: (namespace) => {
    const { metadata } = namespace;
    metadata.labels = { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name };
    put(namespace, ['spec', 'finalizers'], ['kubernetes']);
  },
  prepareUpdate: (namespace, old) => {
    put(namespace, ['spec', 'finalizers'], at(old, 'spec', 'finalizers'));
  },
  status: () => ({ phase: 'Active' }),
};

export const roles: Strategy = { checkName: isPathSegment };

export const bindings: Strategy = {
  checkName: isPathSegment,
  prepare: completeSubjects,
  prepareUpdate: completeSubjects,
  validate: (binding, old) =>
    old === undefined || same(binding['roleRef'], old['roleRef'])
      ? []
      : [{ type: 'Invalid', path: 'roleRef', value: binding['roleRef'], detail: 'cannot change roleRef' }],
};

function completeSubjects(binding: KubeObject): void {
  fill(fieldsOf(binding['roleRef']), { apiGroup: 'rbac.authorization.k8s.io' });
  for (const subject of Array.isArray(binding['subjects']) ? binding['subjects'] : []) {
    const { kind } = fieldsOf(subject);
    if (kind !== 'ServiceAccount') fill(fieldsOf(subject), { apiGroup: 'rbac.authorization.k8s.io' });
  }
}

export const priorities: Strategy = {
  prepare: (priority) => fill(priority, { preemptionPolicy: 'PreemptLowerPriority' }),
};

/** A kubelet may create its Node with a status. */
export const nodes: Strategy = { keepsStatus: true };
