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

type Api = Pick<ClusterDialect, 'group' | 'peers' | 'hadLock' | 'hasBackups'>;

const rightsOnKinds = ({ group, peers, hasBackups }: Api): readonly Right[] => [
  ...rights(`etcdclusters ${group}`, 'list watch', 'clusters are not seen at all'),
  ...rights(
    `etcdclusters/status ${group}`,
    'patch',
    'status is kept in an annotation, where kubectl does not look for it',
  ),
  ...(peers === undefined ? [] : rightsOnPeers(peers.plural, group)),
  ...(hasBackups ? rightsOnBackups(group) : []),
];

const rightsOnPeers = (plural: string, group: string): readonly Right[] => [
  ...rights(`${plural} ${group}`, 'list watch create patch delete', 'no cluster of theirs is looked after'),
  ...rights(`${plural}/status ${group}`, 'patch', 'nobody sees how a single member is'),
];

const rightsOnBackups = (group: string): readonly Right[] => [
  ...rights(`etcdclusters ${group}`, 'get', 'backups cannot name a cluster'),
  ...rights(`etcdbackups ${group}`, 'list watch patch', 'no backups are made'),
  ...rights(`etcdbackups/status ${group}`, 'patch', 'nobody learns how backups went'),
  ...rights(`etcdclusters ${group}`, 'patch', 'no restore can take the place of a cluster'),
  ...rights(`etcdrestores ${group}`, 'list watch patch', 'nothing is restored'),
  ...rights(`etcdrestores/status ${group}`, 'patch', 'nobody learns how restores went'),
];

const rightsOnOldLock = rights('endpoints', 'get', 'an original operator that still runs is not waited for');

/** Everything the operator asks of the API server. A test compares this with the shipped Roles and with the audit log. */
export const neededRights = (apis: readonly Api[]): readonly Right[] => [
  ...apis.flatMap(rightsOnKinds),
  ...rights('pods', 'get list watch create delete patch', 'members are not created, replaced or sealed'),
  ...rights('persistentvolumeclaims', 'get list watch create delete patch', 'members get no disks of their own'),
  ...rights('services', 'list watch create patch', 'clients and members find nobody'),
  ...rights('poddisruptionbudgets policy', 'list watch create patch delete', 'draining nodes may stop a majority'),
  ...(apis.some(({ hadLock }) => hadLock) ? rightsOnOldLock : []),
  ...rights('secrets', 'get', 'clusters with TLS or users cannot be entered'),
  ...rights('secrets', 'create patch', 'no certificates are issued, and a new authority reaches no members that run'),
  ...rights('events', 'create patch', 'nobody is told what happens'),
  ...rights('leases coordination.k8s.io', 'get create update', 'two operators would work at once'),
];

/** What it asks for besides when it reaches pods from outside their cluster. API servers want both; older ones only the first. */
const rightsOutside = rights(
  'pods/portforward',
  'get create',
  "etcd is not reached where pods' addresses lead nowhere",
);

/** What rights are needed for, and where: those for locks in the operator's own namespace, all others where its clusters are. */
export interface Places {
  readonly home: string;
  /** Without it, all namespaces. */
  readonly scope: string | undefined;
  readonly isOutside?: boolean;
  readonly apis: readonly Api[];
}

export const isForLocks = ({ resource }: Right): boolean => resource === 'leases' || resource === 'endpoints';

/** Which of these rights we do not have. */
export async function missingRights(
  client: Pick<KubeClient, 'review'>,
  { home, scope, apis, isOutside = false }: Places,
): Promise<readonly Right[]> {
  const needed = [...neededRights(apis), ...(isOutside ? rightsOutside : [])];
  const asked = needed.map(async (right) => {
    const place = isForLocks(right) ? home : scope;
    return { right, granted: await isGranted(client, right, place) };
  });
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

/** For people: one line for everything that stays undone, with the rules that would be needed. */
export function tellMissing(missing: readonly Right[]): readonly string[] {
  const byConsequence = Map.groupBy(missing, ({ without }) => without);
  return [...byConsequence].map(([without, those]) => {
    return `may not ${those.map(nameOfRight).join(', ')}: ${without}`;
  });
}
