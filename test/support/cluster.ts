import type { EtcdConnection } from '../../src/etcd/client.ts';
import { EtcdConnections } from '../../src/etcd/connections.ts';
import { type EtcdMember, hexOf } from '../../src/etcd/types.ts';
import type { KubeObject, Stored } from '../../src/kube/object.ts';
import { podsOf, read, type Within } from './api.ts';
import { type Api, type ClusterSpec, coreos, manifestOf } from './apis.ts';
import type { Kubectl } from './kubectl.ts';
import { type ClientAccess, endpointsOf } from './member-endpoints.ts';
import { until } from './until.ts';
import { condition, field, inSeconds, type ObjectCheck, waitFor, watchUntil } from './waits.ts';

/** An EtcdCluster of a story, with the views of a kubectl user and of an etcd client. */
export interface DeclaredCluster extends Within {
  readonly name: string;
  /** The resource and name for kubectl. */
  readonly resource: string;
  /** The label selector of its objects. */
  readonly label: string;
  readonly apply: (spec: ClusterSpec) => Promise<void>;
  /** Waits until this many members serve, no change is in progress, and no pod is terminating. */
  readonly settled: (size: number, seconds?: number) => Promise<void>;
  /** Waits until a member is removed and the cluster is settled. */
  readonly replaced: (victim: string, size: number) => Promise<void>;
  /** Waits until a deleted pod has returned to its PVC, or, without a PVC, until its member is replaced. */
  readonly healed: (victim: string, size: number) => Promise<void>;
  /** Waits until there is a member ID besides these and the cluster is settled. */
  readonly renewed: (before: readonly string[], size: number) => Promise<void>;
  /** Waits until etcd has this many voters. The status is not read. */
  readonly voters: (size: number) => Promise<void>;
  readonly podNames: () => Promise<readonly string[]>;
  /** Connections to all members with a pod IP. The list may be a second old. */
  readonly withMembers: <T>(use: (members: readonly EtcdConnection[]) => Promise<T>) => Promise<T>;
  readonly members: () => Promise<readonly EtcdMember[]>;
  /** The sorted member IDs. They change only if a member is replaced. */
  readonly ids: () => Promise<readonly string[]>;
  readonly status: () => Promise<Record<string, unknown>>;
}

export { type ClusterSpec, manifestOf } from './apis.ts';

/** Clusters of one API. `access` is the access of etcd clients; a function is called again, for access that changes. */
export const declaredIn =
  (api: Api) =>
  (kubectl: Kubectl, name = 'db', access: ClientAccess | (() => Promise<ClientAccess>) = {}): DeclaredCluster => {
    const label = `${api.label}=${name}`;
    const resource = `${api.resource}/${name}`;
    const connections = new EtcdConnections();
    const currentAccess = typeof access === 'function' ? access : async () => access;
    const endpoints = cachedFor(1_000, async () => endpointsOf(kubectl, { name, label }, await currentAccess()));
    const withMembers: DeclaredCluster['withMembers'] = async (use) =>
      use((await endpoints()).map((endpoint) => connections.to(endpoint)));
    const listMembers = (): Promise<readonly EtcdMember[]> =>
      withMembers((all) => Promise.any(all.map((connection) => connection.memberList({ timeoutMillis: 10_000 }))));
    // During an election or on a busy machine the answer may be late.
    const members = (): Promise<readonly EtcdMember[]> => until('etcd lists its members', listMembers, { seconds: 30 });
    const ids = async (): Promise<readonly string[]> => (await members()).map(({ id }) => hexOf(id)).toSorted();
    return {
      ...{ name, resource, label, namespace: kubectl.namespace },
      ...waitsFor({ within: kubectl, resource, label, api }, { members, ids }),
      apply: async (spec) => void (await kubectl('apply -f -', { input: manifestOf(name, spec, api) })),
      podNames: async () => (await podsOf(kubectl, label)).map(({ metadata }) => metadata.name),
      withMembers,
      members,
      ids,
      status: async () => (await read<{ status: Record<string, unknown> }>(kubectl, resource)).status,
    };
  };

type MemberLists = Pick<DeclaredCluster, 'members' | 'ids'>;

interface ClusterTarget {
  readonly within: Within;
  readonly resource: string;
  readonly label: string;
  readonly api: Api;
}

/** The waits of stories: first for the status, then for etcd. */
function waitsFor(
  { within, resource, label, api }: ClusterTarget,
  { members, ids }: MemberLists,
): Pick<DeclaredCluster, 'voters' | 'settled' | 'replaced' | 'healed' | 'renewed'> {
  const voters = async (size: number): Promise<void> => {
    await until(`${size} voters`, async () => {
      const list = await members();
      return (list.length === size && list.every((member) => !member.isLearner && member.name !== '')) || undefined;
    });
  };
  const settled = async (size: number, seconds = 120): Promise<void> => {
    await statusSettled(within, resource, { api, size, seconds });
    await voters(size);
    // A removed member is not in the status, but its pod may still be terminating.
    await watchUntil(within, `pods -l ${label}`, { what: 'no pod is terminating', answer: noneTerminating });
  };
  const settledAfter = async (change: Promise<unknown>, size: number): Promise<void> => {
    await change;
    await voters(size); // until then the status may be outdated
    await settled(size);
  };
  const untilTrue = (what: string, holds: () => Promise<boolean>): Promise<true> =>
    until(what, async () => (await holds()) || undefined, { seconds: 120 });
  const replaced: DeclaredCluster['replaced'] = (victim, size) =>
    settledAfter(
      untilTrue(`${victim} is no member`, async () => (await members()).every(({ name }) => name !== victim)),
      size,
    );
  const returned: DeclaredCluster['replaced'] = (victim, size) =>
    settledAfter(waitFor(within, `pod/${victim}`, inSeconds(120, isBack)), size);
  return {
    ...{ voters, settled, replaced, healed: api.isNumbered ? returned : replaced },
    renewed: (before, size) =>
      settledAfter(
        untilTrue('another member', async () => (await ids()).some((id) => !before.includes(id))),
        size,
      ),
  };
}

/** The pod is ready and not terminating. */
const isBack: ObjectCheck = {
  what: 'is ready and not terminating',
  holds: (pod) => pod.metadata.deletionTimestamp === undefined && condition('Ready').holds(pod),
};

const noneTerminating = (pods: readonly Stored<KubeObject>[]): true | undefined =>
  pods.every(({ metadata }) => metadata.deletionTimestamp === undefined) || undefined;

/** Clusters of the coreos API. */
export const declared = declaredIn(coreos);

/** Waits until the status has this many ready members and no change in progress. */
async function statusSettled(
  within: Within,
  cluster: string,
  { api, size, seconds }: { api: Api; size: number; seconds: number },
): Promise<void> {
  const checks = [
    field(`.status.${api.status.ready}`, size),
    field(`.status.${api.status.size}`, size),
    condition('Progressing', 'False'),
    field('.status.conditions[?(@.type=="Progressing")].reason', 'AsDesired'), // not blocked, paused or unreachable
  ];
  const what = checks.map((check) => check.what).join(', ');
  await waitFor(within, cluster, { what, holds: (object) => checks.every(({ holds }) => holds(object)), seconds });
}

/**
 * Caches an answer, as clients cache their endpoints. A stale answer is used while the next one is fetched, unless it is older
 * than five periods.
 */
function cachedFor<T>(millis: number, ask: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  const fetchNext = (age: number): void => {
    fetchedAt = performance.now();
    const next = ask();
    if (current === undefined || age > 5 * millis) current = next;
    next.then(() => (current = next)).catch(() => undefined); // a failed fetch keeps the old answer
  };
  return () => {
    const age = performance.now() - fetchedAt;
    if (age > millis) fetchNext(age);
    return current ?? ask();
  };
}
