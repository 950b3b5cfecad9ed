import { type Fields, fieldsIn, fieldsOf, listOf, textOf } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { ServerState } from '../state.ts';
import type { User } from './user.ts';

export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

const rbac = 'rbac.authorization.k8s.io';

/** The RBAC rules of a user in a namespace, or cluster-wide without one. */
export function rulesFor({ store }: ServerState, user: User, namespace: string | undefined): readonly PolicyRule[] {
  const everywhere = store.list(`${rbac}/clusterrolebindings`);
  const here = namespace === undefined ? [] : store.list(`${rbac}/rolebindings`, namespace);
  return [...everywhere, ...here]
    .filter((binding) => fieldsIn(binding['subjects']).some((subject) => isSubject(subject, user, binding)))
    .flatMap((binding) => rulesOf(roleOf(store, binding)));
}

function isSubject({ kind, name, namespace }: Fields, user: User, binding: KubeObject): boolean {
  switch (kind) {
    case 'User':
      return user.name === name;
    case 'Group':
      return user.groups.includes(textOf(name));
    default:
      return (
        user.name === `system:serviceaccount:${textOf(namespace) || (binding.metadata.namespace ?? '')}:${textOf(name)}`
      );
  }
}

function roleOf(store: ServerState['store'], binding: KubeObject): KubeObject | undefined {
  const { kind, name } = fieldsOf(binding['roleRef']);
  if (kind === 'ClusterRole')
    return store.get({ collection: `${rbac}/clusterroles`, namespace: '', name: textOf(name) });
  return store.get({ collection: `${rbac}/roles`, namespace: binding.metadata.namespace ?? '', name: textOf(name) });
}

const texts = (value: unknown): readonly string[] => listOf(value).map(String);

const rulesOf = (role: KubeObject | undefined): readonly PolicyRule[] =>
  fieldsIn(role?.['rules']).map((rule) => ({
    verbs: texts(rule['verbs']),
    apiGroups: texts(rule['apiGroups']),
    resources: texts(rule['resources']),
    resourceNames: texts(rule['resourceNames']),
    nonResourceURLs: texts(rule['nonResourceURLs']),
  }));

export const includes = (list: readonly string[], wanted: string): boolean =>
  list.includes('*') || list.includes(wanted);
