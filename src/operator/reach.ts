import type { ClusterDialect } from '../apis/common/dialect.ts';
import { clusterWideScope } from '../apis/common/warnings.ts';
import type { ObjectMeta } from '../kube/object.ts';
import type { Settings } from './settings.ts';

/** The value of `--namespaces` for all namespaces. */
export const everyNamespace = '*';

export type Reach = Pick<Settings, 'clusterWide' | 'namespaces'>;

type Api = Pick<ClusterDialect, 'group' | 'scopeAnnotation'>;

const isEvery = ({ namespaces = [] }: Reach): boolean => namespaces.includes(everyNamespace);

/** True if the operator serves namespaces other than its own, for tenants that may not trust each other. */
export const isShared = ({ clusterWide, namespaces }: Reach): boolean => clusterWide || namespaces !== undefined;

/** The namespaces with separate caches. Undefined stands for one set of caches for all namespaces. */
export const namespacesOf = (reach: Reach, home: string): readonly (string | undefined)[] =>
  reach.clusterWide || isEvery(reach) ? [undefined] : (reach.namespaces ?? [home]);

/**
 * True if a resource is for this operator. In an API with a scope annotation, `--cluster-wide` serves resources that
 * have it, `--namespaces='*'` all, and any other operator those without it: that rule keeps two operators off the same
 * resource.
 */
export const isServedBy =
  (reach: Reach) =>
  ({ annotations = {} }: ObjectMeta, { scopeAnnotation }: Pick<ClusterDialect, 'scopeAnnotation'>): boolean => {
    if (scopeAnnotation === undefined || isEvery(reach)) return true;
    return reach.clusterWide
      ? annotations[scopeAnnotation] === clusterWideScope
      : annotations[scopeAnnotation] === undefined;
  };

/** Describes the watched resources, for the log and `/readyz?verbose`. */
export function describeReach(reach: Reach, home: string, apis: readonly Api[]): string {
  const annotations = apis.flatMap(({ scopeAnnotation }) => scopeAnnotation ?? []);
  const named = namespacesOf(reach, home).flatMap((namespace) => namespace ?? []);
  if (named.length === 0) return ['watching all namespaces', ...annotations.map(scopeRule(reach))].join('; ');
  return [
    `watching namespace${named.length === 1 ? '' : 's'} ${named.join(', ')}: resources in other namespaces are ignored`,
    ...annotations.map((key) => `resources with the annotation ${key} are left to an operator with --cluster-wide`),
    'to watch more namespaces, grant the rights and set --namespaces or --cluster-wide',
  ].join('; ');
}

const scopeRule =
  ({ clusterWide }: Reach) =>
  (key: string): string =>
    clusterWide
      ? `where the API has it, only resources with the annotation ${key}: ${clusterWideScope}`
      : `resources are served with and without the annotation ${key}`;
