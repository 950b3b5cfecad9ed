import type {
  V1SelfSubjectAccessReviewSpec,
  V1SelfSubjectRulesReviewSpec,
  V1SubjectAccessReviewStatus,
  V1SubjectRulesReviewStatus,
} from '@kubernetes/client-node';
import { Failure } from '../std/failure.ts';
import type {
  CoreEvent,
  CustomResourceDefinition,
  EndpointSlice,
  Json,
  KubeObject,
  Lease,
  Namespace,
  NamespacedName,
  Node,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Secret,
  Service,
} from './object.ts';

/** The API path and kind of a resource. */
export interface Resource<T extends KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Never set. It ties the descriptor to the type of its objects. */
  readonly holds?: T;
}

/** A review: a create request that stores no object and returns a status. */
export interface Review<Spec, Status> {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  /** Never set, like `holds` above. */
  readonly asks?: Spec;
  readonly answers?: Status;
}

type Name = Omit<Resource<KubeObject>, 'namespaced' | 'holds'>;

/** Describes a namespaced kind, built-in or custom. */
export const namespaced = <T extends KubeObject>(name: Name): Resource<T> => ({ ...name, namespaced: true });

/** Describes a cluster-scoped kind. */
export const clusterWide = <T extends KubeObject>(name: Name): Resource<T> => ({ ...name, namespaced: false });

const core = (plural: string, kind: string): Name => ({ group: '', version: 'v1', plural, kind });

export const pods = namespaced<Pod>(core('pods', 'Pod'));
export const services = namespaced<Service>(core('services', 'Service'));
export const secrets = namespaced<Secret>(core('secrets', 'Secret'));
export const events = namespaced<CoreEvent>(core('events', 'Event'));
export const nodes = clusterWide<Node>(core('nodes', 'Node'));
export const namespaces = clusterWide<Namespace>(core('namespaces', 'Namespace'));
export const persistentVolumeClaims = namespaced<PersistentVolumeClaim>(
  core('persistentvolumeclaims', 'PersistentVolumeClaim'),
);
export const endpointSlices = namespaced<EndpointSlice>({
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
});
export const podDisruptionBudgets = namespaced<PodDisruptionBudget>({
  group: 'policy',
  version: 'v1',
  plural: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
});
export const replicaSets = namespaced<KubeObject>({
  group: 'apps',
  version: 'v1',
  plural: 'replicasets',
  kind: 'ReplicaSet',
});
export const leases = namespaced<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
});
export const customResourceDefinitions = clusterWide<CustomResourceDefinition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
});

/** Checks one permission of this client. */
export const selfSubjectAccessReviews: Review<
  Json<V1SelfSubjectAccessReviewSpec>,
  Json<V1SubjectAccessReviewStatus>
> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
};

/** Lists the permissions of this client in a namespace. */
export const selfSubjectRulesReviews: Review<Json<V1SelfSubjectRulesReviewSpec>, Json<V1SubjectRulesReviewStatus>> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'selfsubjectrulesreviews',
  kind: 'SelfSubjectRulesReview',
};

/** The `apiVersion` of a resource's objects. */
export const apiVersionOf = ({ group, version }: Pick<Name, 'group' | 'version'>): string =>
  group === '' ? version : `${group}/${version}`;

const rootOf = (name: Pick<Name, 'group' | 'version'>): string =>
  `${name.group === '' ? '/api' : '/apis'}/${apiVersionOf(name)}`;

/** The path of a collection, in one namespace or in all namespaces. */
export function collectionPath(resource: Omit<Resource<KubeObject>, 'holds'>, namespace: string | undefined): string {
  const within = resource.namespaced && namespace !== undefined ? `/namespaces/${segment(namespace)}` : '';
  return `${rootOf(resource)}${within}/${resource.plural}`;
}

/** The path of an object or of its subresource. */
export function objectPath(
  resource: Omit<Resource<KubeObject>, 'holds'>,
  at: NamespacedName,
  subresource?: string,
): string {
  if (resource.namespaced && at.namespace === undefined)
    throw new Failure('bug', `${resource.plural} ${at.name}: no namespace given`);
  const below = subresource === undefined ? '' : `/${segment(subresource)}`;
  return `${collectionPath(resource, at.namespace)}/${segment(at.name)}${below}`;
}

export const reviewPath = (review: Review<unknown, unknown>): string => `${rootOf(review)}/${review.plural}`;

/** Encodes a path segment. An empty name is refused: a DELETE would then hit the whole collection. */
function segment(text: string): string {
  if (text === '' || text === '.' || text === '..') throw new Failure('rejected', `"${text}" is not a name`);
  return encodeURIComponent(text);
}
