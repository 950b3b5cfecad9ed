import type { ClusterDialect } from '../dialects/dialect.ts';
import { wideScope } from '../dialects/warnings.ts';
import type { ObjectMeta } from '../kube/object.ts';
import type { Settings } from './settings.ts';

/** `--namespaces='*'`. */
export const everyNamespace = '*';

export type Reach = Pick<Settings, 'clusterWide' | 'namespaces'>;

type Api = Pick<ClusterDialect, 'group' | 'scopeAnnotation'>;

const isEvery = ({ namespaces = [] }: Reach): boolean => namespaces.includes(everyNamespace);

/** True if the operator serves namespaces other than its own, whose users need not trust each other. */
export const isShared = ({ clusterWide, namespaces }: Reach): boolean => clusterWide || namespaces !== undefined;

/** The namespaces that have caches of their own. Without a name, one set of caches is for all namespaces. */
export const namespacesOf = (reach: Reach, home: string): readonly (string | undefined)[] =>
  reach.clusterWide || isEvery(reach) ? [undefined] : (reach.namespaces ?? [home]);

/**
 * True if a resource is for this operator. In an API with a scope annotation, `--cluster-wide` serves resources that have it,
 * `--namespaces='*'` all, and any other operator those without it: that rule keeps two operators off the same resource.
 */
export const isServedBy =
  (reach: Reach) =>
  ({ annotations = {} }: ObjectMeta, { scopeAnnotation }: Pick<ClusterDialect, 'scopeAnnotation'>): boolean => {
    if (scopeAnnotation === undefined || isEvery(reach)) return true;
    return reach.clusterWide ? annotations[scopeAnnotation] === wideScope : annotations[scopeAnnotation] === undefined;
  };

/** Which resources the operator sees: for its log and `/readyz?verbose`. */
export function describeReach(reach: Reach, home: string, apis: readonly Api[]): string {
  const annotations = apis.flatMap(({ scopeAnnotation }) => scopeAnnotation ?? []);
  const named = namespacesOf(reach, home).flatMap((namespace) => namespace ?? []);
  if (named.length === 0) return ['watching all namespaces', ...annotations.map(ruleOfAll(reach))].join('; ');
  return [
    `watching namespace${named.length === 1 ? '' : 's'} ${named.join(', ')}: resources in other namespaces are ignored`,
    ...annotations.map((key) => `resources with the annotation ${key} are left to an operator with --cluster-wide`),
    'to watch more, grant the rights and start the operator with --namespaces or --cluster-wide',
  ].join('; ');
}

const ruleOfAll =
  ({ clusterWide }: Reach) =>
  (key: string): string =>
    clusterWide
      ? `where the API has it, only resources with the annotation ${key}: ${wideScope}`
      : `resources are served with and without the annotation ${key}`;
