import type { ClusterDialect } from '../dialects/dialect.ts';
import type { KubeClient } from '../kube/client.ts';
import type { KubeObject } from '../kube/object.ts';
import { type Resource, selfSubjectAccessReviews } from '../kube/resource.ts';
import { Failure } from '../std/failure.ts';

/** A right that the operator uses, and what stays undone where it is not granted. */
export interface Right {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly without: string;
}

/** `what` is the resource, with its group behind a blank where it has one. */
const rights = (what: string, verbs: string, without: string): readonly Right[] => {
  const [resource = '', group = ''] = what.split(' ');
  return verbs.split(' ').map((verb) => ({ group, resource, verb, without }));
};

type Api = Pick<
  ClusterDialect,
  'group' | 'peers' | 'oldLock' | 'hadReplicaSets' | 'hasBackups' | 'hasRestores' | 'hasSchedules'
>;

const rightsOnKinds = (api: Api): readonly Right[] => [
  ...rights(`etcdclusters ${api.group}`, 'list watch', 'clusters are not seen at all'),
  ...rights(
    `etcdclusters/status ${api.group}`,
    'patch',
    'status is kept in an annotation, where kubectl does not look for it',
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

const rightsOnOriginals = ({ oldLock, hadReplicaSets }: Api): readonly Right[] => [
  ...(oldLock === undefined
    ? []
    : rights(oldLock.plural, 'get', 'an original operator that still runs is not waited for')),
  ...(hadReplicaSets ? rights('replicasets apps', 'get delete', 'clusters of the original are not taken over') : []),
];

const rightsOnPeers = (plural: string, group: string): readonly Right[] => [
  ...rights(`${plural} ${group}`, 'list watch create patch delete', 'no cluster of theirs is looked after'),
  ...rights(`${plural}/status ${group}`, 'patch', 'nobody sees how a single member is'),
];

const rightsOnBackups = (group: string): readonly Right[] => [
  ...rights(`etcdbackups ${group}`, 'list watch', 'no backups are made'),
  ...rights(`etcdbackups ${group}`, 'get create delete', 'no backups are made before upgrades and by schedules'),
  ...rights(`etcdbackups/status ${group}`, 'patch', 'nobody learns how backups went'),
];

const rightsOnRestores = (group: string): readonly Right[] => [
  ...rights(`etcdclusters ${group}`, 'get', 'backups and restores cannot name a cluster'),
  ...rights(`etcdclusters ${group}`, 'create', 'no restore can make a cluster'),
  ...rights(`etcdclusters ${group}`, 'patch', 'no restore can take the place of a cluster'),
  ...rights(`etcdrestores ${group}`, 'list watch patch', 'nothing is restored'),
  ...rights(`etcdrestores/status ${group}`, 'patch', 'nobody learns how restores went'),
];

/** It is on whatever the original did again and again. */
const rightsOnOldFinalizer = (group: string): readonly Right[] =>
  rights(`etcdbackups ${group}`, 'patch', 'backups that the original has left cannot be deleted');

const rightsOnSchedules = (group: string): readonly Right[] => [
  ...rights(`etcdbackupschedules ${group}`, 'list watch patch', 'no backups are made by schedules'),
  ...rights(`etcdbackupschedules/status ${group}`, 'patch', 'nobody learns when backups are due'),
];

/** Everything the operator asks of the API server. A test compares this with the shipped Roles and with the audit log. */
export const neededRights = (apis: readonly Api[]): readonly Right[] => [
  ...apis.flatMap(rightsOnKinds),
  ...rights('pods', 'get list watch create delete patch', 'members are not created, replaced or sealed'),
  ...rights('persistentvolumeclaims', 'get list watch create delete patch', 'members get no disks of their own'),
  ...rights('services', 'list watch create patch', 'clients and members find nobody'),
  ...rights('poddisruptionbudgets policy', 'list watch create patch delete', 'draining nodes may stop a majority'),
  ...rights('secrets', 'get', 'clusters with TLS or users cannot be entered'),
  ...rights('secrets', 'create patch', 'no certificates are issued, and a new authority reaches no members that run'),
  ...rights('secrets', 'delete', 'certificates of encryption that was switched off stay until their cluster goes'),
  ...rights('events', 'create patch', 'nobody is told what happens'),
  ...rights('leases coordination.k8s.io', 'get create update', 'two operators would work at once'),
];

/** What it asks for besides when it reaches pods from outside their cluster. API servers want both; older ones only the first. */
const rightsOutside = rights(
  'pods/portforward',
  'get create',
  "etcd is not reached where pods' addresses lead nowhere",
);

/** Without it all is done, and something is left lying about. */
export const isForTidying = ({ resource, verb }: Right): boolean => resource === 'secrets' && verb === 'delete';

const oldLocks: ReadonlySet<string> = new Set(['endpoints', 'configmaps']);

export const isForLocks = ({ resource }: Right): boolean => resource === 'leases' || oldLocks.has(resource);

/** Rights where the clusters are. In named namespaces an original operator may have had its lock, too. */
export const rightsInPlace = (
  apis: readonly Api[],
  { isOutside, hadLocks }: { readonly isOutside: boolean; readonly hadLocks: boolean },
): readonly Right[] => [
  ...neededRights(apis).filter((right) => !isForLocks(right) || (hadLocks && oldLocks.has(right.resource))),
  ...(isOutside ? rightsOutside : []),
];

const ofOwnPod = [
  ...rights('pods', 'get', 'the image for agents is unknown without --agent-image'),
  ...rights('events', 'create patch', 'Events on the pod of the operator are not written'),
];

const ofAgentsAtHome = [
  ...rights('pods', 'list watch create delete', 'no agent uses --store-secret or --store-service-account'),
  ...rights('secrets', 'get create patch delete', 'no agent uses --store-secret or --store-service-account'),
];

/** Rights in the operator's own namespace; `isApart` if no clusters are served there. */
export const rightsAtHome = (
  apis: readonly Api[],
  { isApart, hasStore }: { readonly isApart: boolean; readonly hasStore: boolean },
): readonly Right[] => [
  ...neededRights(apis).filter(isForLocks),
  ...(isApart ? ofOwnPod : []),
  ...(isApart && hasStore ? ofAgentsAtHome : []),
];

/** The rights among these that the operator does not have there; without a namespace, everywhere. */
export async function missingRights(
  client: Pick<KubeClient, 'review'>,
  needed: readonly Right[],
  namespace: string | undefined,
): Promise<readonly Right[]> {
  const asked = needed.map(async (right) => ({ right, granted: await isGranted(client, right, namespace) }));
  return (await Promise.all(asked)).filter(({ granted }) => !granted).map(({ right }) => right);
}

/** Whether we may see objects of a kind at all. */
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
    ...{ group, verb, resource: plural },
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === undefined ? {} : { namespace }),
  };
  try {
    return (await client.review(selfSubjectAccessReviews, { resourceAttributes })).allowed;
  } catch (thrown) {
    // An API server that does not answer this question will answer the real one.
    if (Failure.from(thrown).kind === 'bug') throw thrown;
    return true;
  }
}

/** As `kubectl auth can-i` takes it. */
export const nameOfRight = ({ group, resource, verb }: Omit<Right, 'without'>): string =>
  `${verb} ${resource}${group === '' ? '' : `.${group}`}`;

/** One line for each consequence, with the missing rules; with a namespace, where they are missing. */
export function tellMissing(missing: readonly Right[], namespace?: string): readonly string[] {
  const byConsequence = Map.groupBy(missing, ({ without }) => without);
  const where = namespace === undefined ? '' : `in namespace ${namespace}: `;
  return [...byConsequence].map(([without, those]) => {
    return `${where}may not ${those.map(nameOfRight).join(', ')}: ${without}`;
  });
}
