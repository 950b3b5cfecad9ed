import type { ClusterDialect } from '../apis/common/dialect.ts';
import type { KubeClient } from '../kube/client.ts';
import type { KubeObject } from '../kube/object.ts';
import { type Resource, selfSubjectAccessReviews } from '../kube/resource.ts';
import { Failure } from '../std/failure.ts';

/** A right that the operator uses, and the consequence of its absence. */
export interface Right {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly without: string;
}

/** `what`: the resource, followed by a blank and its API group if it has one. */
const rights = (what: string, verbs: string, without: string): readonly Right[] => {
  const [resource = '', group = ''] = what.split(' ');
  return verbs.split(' ').map((verb) => ({ group, resource, verb, without }));
};

type Api = Pick<
  ClusterDialect,
  'group' | 'peers' | 'legacyLock' | 'hadReplicaSets' | 'hasBackups' | 'hasRestores' | 'hasSchedules'
>;

const rightsOnKinds = (api: Api): readonly Right[] => [
  ...rights(`etcdclusters ${api.group}`, 'list watch', 'clusters are not served'),
  ...rights(
    `etcdclusters/status ${api.group}`,
    'patch',
    'the status is kept in an annotation, which kubectl does not show',
  ),
  ...(api.peers === undefined ? [] : rightsOnPeers(api.peers.plural, api.group)),
  ...rightsOnSaving(api),
  ...rightsOnOriginals(api),
];

const rightsOnSaving = ({ group, hasBackups, hasRestores, hasSchedules }: Api): readonly Right[] => [
  ...(hasBackups ? rightsOnBackups(group) : []),
  ...(hasRestores ? rightsOnRestores(group) : []),
  ...(hasSchedules ? rightsOnSchedules(group) : []),
  ...(hasBackups && !hasSchedules ? rightsOnOldFinalizer(group) : []),
];

const rightsOnOriginals = ({ legacyLock, hadReplicaSets }: Api): readonly Right[] => [
  ...(legacyLock === undefined
    ? []
    : rights(legacyLock.plural, 'get', 'the operator does not wait for a running original operator')),
  ...(hadReplicaSets
    ? rights('replicasets apps', 'get delete', 'clusters of the original operator are not adopted')
    : []),
];

const rightsOnPeers = (plural: string, group: string): readonly Right[] => [
  ...rights(`${plural} ${group}`, 'list watch create patch delete', 'clusters with EtcdPeers are not served'),
  ...rights(`${plural}/status ${group}`, 'patch', 'the status of members is not published'),
];

const rightsOnBackups = (group: string): readonly Right[] => [
  ...rights(`etcdbackups ${group}`, 'list watch', 'no backups are made'),
  ...rights(`etcdbackups ${group}`, 'get create delete', 'no backups are made before upgrades and by schedules'),
  ...rights(`etcdbackups/status ${group}`, 'patch', 'the status of backups is not published'),
];

const rightsOnRestores = (group: string): readonly Right[] => [
  ...rights(`etcdclusters ${group}`, 'get', 'backups and restores cannot name a cluster'),
  ...rights(`etcdclusters ${group}`, 'create', 'restores cannot create a cluster'),
  ...rights(`etcdclusters ${group}`, 'patch', 'restores cannot replace a cluster'),
  ...rights(`etcdrestores ${group}`, 'list watch patch', 'no restores are made'),
  ...rights(`etcdrestores/status ${group}`, 'patch', 'the status of restores is not published'),
];

/** The original put a finalizer on periodic backups. */
const rightsOnOldFinalizer = (group: string): readonly Right[] =>
  rights(`etcdbackups ${group}`, 'patch', 'periodic backups of the original operator cannot be deleted');

const rightsOnSchedules = (group: string): readonly Right[] => [
  ...rights(`etcdbackupschedules ${group}`, 'list watch patch', 'no backups are made by schedules'),
  ...rights(`etcdbackupschedules/status ${group}`, 'patch', 'the status of schedules is not published'),
];

/** All rights of the operator. A test compares them with the shipped Roles and with the audit log. */
export const neededRights = (apis: readonly Api[]): readonly Right[] => [
  ...apis.flatMap(rightsOnKinds),
  ...rights(
    'pods',
    'get list watch create delete patch',
    'members are not created, replaced or protected from a second bootstrap',
  ),
  ...rights('persistentvolumeclaims', 'get list watch create delete patch', 'members have no volumes'),
  ...rights('services', 'list watch create patch', 'clients and members cannot find each other'),
  ...rights('endpointslices discovery.k8s.io', 'list', 'members may stop while clients still connect to them'),
  ...rights('poddisruptionbudgets policy', 'list watch create patch delete', 'draining nodes may break quorum'),
  ...rights('secrets', 'get', 'clusters with TLS or auth cannot be managed'),
  ...rights('secrets', 'create patch', 'certificates are not issued, and running members do not get a new CA'),
  ...rights('secrets', 'delete', 'Secrets of disabled TLS stay until their cluster is deleted'),
  ...rights('events', 'create patch', 'Events are not recorded'),
  ...rights('leases coordination.k8s.io', 'get create update', 'two operators may run at the same time'),
];

/** Additional rights of an operator outside the cluster. API servers check both; older ones check only the first. */
const rightsOutside = rights('pods/portforward', 'get create', 'etcd is unreachable if pod addresses are not routable');

/** True if the right is only used for cleanup. */
export const isForCleanup = ({ resource, verb }: Right): boolean => resource === 'secrets' && verb === 'delete';

const legacyLocks: ReadonlySet<string> = new Set(['endpoints', 'configmaps']);

export const isForLocks = ({ resource }: Right): boolean => resource === 'leases' || legacyLocks.has(resource);

/** Rights in the namespaces of clusters. Named namespaces may also have the lock of an original operator. */
export const rightsInPlace = (
  apis: readonly Api[],
  { isOutside, hadLocks }: { readonly isOutside: boolean; readonly hadLocks: boolean },
): readonly Right[] => [
  ...neededRights(apis).filter((right) => !isForLocks(right) || (hadLocks && legacyLocks.has(right.resource))),
  ...(isOutside ? rightsOutside : []),
];

const ofOwnPod = [
  ...rights('pods', 'get', 'the agent image is unknown without --agent-image'),
  ...rights('events', 'create patch', 'Events on the pod of the operator are not recorded'),
];

const ofAgentsAtHome = [
  ...rights('pods', 'list watch create delete', '--store-secret and --store-service-account have no effect'),
  ...rights('secrets', 'get create patch delete', '--store-secret and --store-service-account have no effect'),
];

/** Rights in the operator's own namespace. `isApart`: no clusters are served there. */
export const rightsAtHome = (
  apis: readonly Api[],
  { isApart, hasStore }: { readonly isApart: boolean; readonly hasStore: boolean },
): readonly Right[] => [
  ...neededRights(apis).filter(isForLocks),
  ...(isApart ? ofOwnPod : []),
  ...(isApart && hasStore ? ofAgentsAtHome : []),
];

/** The rights that the operator lacks in a namespace, or in all namespaces. */
export async function missingRights(
  client: Pick<KubeClient, 'review'>,
  needed: readonly Right[],
  namespace: string | undefined,
): Promise<readonly Right[]> {
  const reviews = needed.map(async (right) => ({ right, granted: await isGranted(client, right, namespace) }));
  return (await Promise.all(reviews)).filter(({ granted }) => !granted).map(({ right }) => right);
}

/** True if objects of a kind can be listed. */
export const mayList = (
  client: Pick<KubeClient, 'review'>,
  { group, plural }: Resource<KubeObject>,
  scope: string | undefined,
): Promise<boolean> => isGranted(client, { group, resource: plural, verb: 'list', without: '' }, scope);

async function isGranted(
  client: Pick<KubeClient, 'review'>,
  { group, resource, verb }: Right,
  namespace: string | undefined,
): Promise<boolean> {
  const [plural = '', subresource] = resource.split('/');
  const resourceAttributes = {
    group,
    verb,
    resource: plural,
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === undefined ? {} : { namespace }),
  };
  try {
    return (await client.review(selfSubjectAccessReviews, { resourceAttributes })).allowed;
  } catch (thrown) {
    // A failed review counts as granted: the request itself will show.
    if (Failure.from(thrown).kind === 'bug') throw thrown;
    return true;
  }
}

/** The right as an argument of `kubectl auth can-i`. */
export const nameOfRight = ({ group, resource, verb }: Omit<Right, 'without'>): string =>
  `${verb} ${resource}${group === '' ? '' : `.${group}`}`;

/** One line per consequence, with the missing rights and their namespace. */
export function describeMissing(missing: readonly Right[], namespace?: string): readonly string[] {
  const byConsequence = Map.groupBy(missing, ({ without }) => without);
  const where = namespace === undefined ? '' : `in namespace ${namespace}: `;
  return [...byConsequence].map(([without, rightsOfIt]) => {
    return `${where}may not ${rightsOfIt.map(nameOfRight).join(', ')}: ${without}`;
  });
}
