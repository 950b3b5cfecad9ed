import { at, copy, fieldsIn, same } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { selectorOf } from '../selectors.ts';
import type { ServerState } from '../state.ts';
import { serverWrite } from '../verbs/call.ts';
import { updateObject } from '../verbs/update.ts';
import { defer } from './deferred.ts';

const collection = 'rbac.authorization.k8s.io/clusterroles';

/** Fills aggregated ClusterRoles with the rules of the roles they select. */
export function aggregateRoles(state: ServerState): void {
  state.store.listen((change) => {
    if (change.collection === collection) defer(() => aggregateAll(state));
  });
  aggregateAll(state);
}

function aggregateAll(state: ServerState): void {
  const roles = state.store.list(collection);
  for (const role of roles) {
    const selectors = fieldsIn(at(role, 'aggregationRule', 'clusterRoleSelectors')).map(selectorOf);
    if (selectors.length > 0)
      setRules(
        state,
        role,
        rulesOf(
          roles.filter((one) => one !== role),
          selectors,
        ),
      );
  }
}

type Labels = Parameters<ReturnType<typeof selectorOf>>[0];

const rulesOf = (
  roles: readonly KubeObject[],
  selectors: readonly ((labels: Labels) => boolean)[],
): readonly unknown[] => {
  const parts = roles.filter(({ metadata }) => selectors.some((selects) => selects(metadata.labels ?? {})));
  const rules = parts.flatMap((role) => fieldsIn(role['rules']));
  return rules.filter((rule, index) => rules.findIndex((other) => same(other, rule)) === index);
};

function setRules(state: ServerState, old: KubeObject, rules: readonly unknown[]): void {
  const type = state.types.ofCollection(collection);
  if (type === undefined || same(old['rules'], rules)) return;
  updateObject(state, { type, old, object: { ...copy(old), rules } }, serverWrite);
}
