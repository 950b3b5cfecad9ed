import type { EtcdConnection } from '../../src/etcd/client.ts';
import { EtcdConnections } from '../../src/etcd/connections.ts';
import { type EtcdMember, hexOf } from '../../src/etcd/words.ts';
import type { KubeObject, Stored } from '../../src/kube/object.ts';
import { podsOf, read, type Within } from './api.ts';
import { type Api, type ClusterSpec, coreos, manifestOf } from './apis.ts';
import type { Kubectl } from './kubectl.ts';
import { type Entry, endpointsOf } from './member-endpoints.ts';
import { until } from './until.ts';
import { type Claim, condition, field, inSeconds, waitFor, watchUntil } from './waits.ts';

/** An EtcdCluster of a story's, as its user sees it and as its clients do. */
export interface DeclaredCluster extends Within {
  readonly name: string;
  /** As kubectl takes it. */
  readonly resource: string;
  /** Selects what belongs to it. */
  readonly label: string;
  readonly apply: (spec: ClusterSpec) => Promise<void>;
  /** Waits until that many members serve, nothing is under way, and whoever had to go is gone. */
  readonly settled: (size: number, seconds?: number) => Promise<void>;
  /** Waits until a member is gone, and then until all is settled again. */
  readonly replaced: (victim: string, size: number) => Promise<void>;
  /** Waits until one whose pod was deleted is back on its disk, or, where it had none, until another is in its place. */
  readonly healed: (victim: string, size: number) => Promise<void>;
  /** Waits until somebody is a member who was not among these, and then until all is settled again. */
  readonly renewed: (before: readonly string[], size: number) => Promise<void>;
  /** Waits until etcd itself has so many voters, whatever the status says. */
  readonly voters: (size: number) => Promise<void>;
  readonly podNames: () => Promise<readonly string[]>;
  /** Connections to all members that had an address a moment ago. */
  readonly withMembers: <T>(use: (members: readonly EtcdConnection[]) => Promise<T>) => Promise<T>;
  readonly members: () => Promise<readonly EtcdMember[]>;
  /** The numbers etcd knows its members by: the same ones, as long as nobody was replaced. */
  readonly ids: () => Promise<readonly string[]>;
  readonly status: () => Promise<Record<string, unknown>>;
}

export { type ClusterSpec, manifestOf } from './apis.ts';

/** Declares clusters in one of the APIs. `entry`: how clients enter; asked for again and again where it may change while they do. */
export const declaredIn =
  (api: Api) =>
  (kubectl: Kubectl, name = 'db', entry: Entry | (() => Promise<Entry>) = {}): DeclaredCluster => {
    const label = `${api.label}=${name}`;
    const resource = `${api.resource}/${name}`;
    const connections = new EtcdConnections();
    const entered = typeof entry === 'function' ? entry : async () => entry;
    const endpoints = remembered(1_000, async () => endpointsOf(kubectl, { name, label }, await entered()));
    const withMembers: DeclaredCluster['withMembers'] = async (use) =>
      use((await endpoints()).map((endpoint) => connections.to(endpoint)));
    const asked = (): Promise<readonly EtcdMember[]> =>
      withMembers((all) => Promise.any(all.map((connection) => connection.memberList({ timeoutMillis: 10_000 }))));
    // Whoever asks while members choose a leader, or on a busy machine, is answered a little later.
    const members = (): Promise<readonly EtcdMember[]> => until('etcd tells its members', asked, { seconds: 30 });
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

type Asking = Pick<DeclaredCluster, 'members' | 'ids'>;

interface Asked {
  readonly within: Within;
  readonly resource: string;
  readonly label: string;
  readonly api: Api;
}

/** What stories wait for, by what the status says and then by what etcd does. */
function waitsFor(
  { within, resource, label, api }: Asked,
  { members, ids }: Asking,
): Pick<DeclaredCluster, 'voters' | 'settled' | 'replaced' | 'healed' | 'renewed'> {
  const voters = async (size: number): Promise<void> => {
    await until(`${size} voters`, async () => {
      const list = await members();
      return (list.length === size && list.every((member) => !member.isLearner && member.name !== '')) || undefined;
    });
  };
  const settled = async (size: number, seconds = 120): Promise<void> => {
    await saysSettled(within, resource, { api, size, seconds });
    await voters(size);
    // A member that etcd has removed is in no status any more, while its pod is still being stopped.
    await watchUntil(within, `pods -l ${label}`, { what: 'no pod is being stopped', answer: noneIsLeaving });
  };
  const settledAfter = async (change: Promise<unknown>, size: number): Promise<void> => {
    await change;
    await voters(size); // until then the status may be the one of before
    await settled(size);
  };
  const untilSo = (what: string, isSo: () => Promise<boolean>): Promise<true> =>
    until(what, async () => (await isSo()) || undefined, { seconds: 120 });
  const replaced: DeclaredCluster['replaced'] = (victim, size) =>
    settledAfter(
      untilSo(`${victim} is no member`, async () => (await members()).every(({ name }) => name !== victim)),
      size,
    );
  const returned: DeclaredCluster['replaced'] = (victim, size) =>
    settledAfter(waitFor(within, `pod/${victim}`, inSeconds(120, isBack)), size);
  return {
    ...{ voters, settled, replaced, healed: api.isNumbered ? returned : replaced },
    renewed: (before, size) =>
      settledAfter(
        untilSo('another member', async () => (await ids()).some((id) => !before.includes(id))),
        size,
      ),
  };
}

/** That a pod is ready, and is not the one that is being stopped. */
const isBack: Claim = {
  what: 'is back',
  holds: (pod) => pod.metadata.deletionTimestamp === undefined && condition('Ready').holds(pod),
};

const noneIsLeaving = (pods: readonly Stored<KubeObject>[]): true | undefined =>
  pods.every(({ metadata }) => metadata.deletionTimestamp === undefined) || undefined;

/** In the API of the book. */
export const declared = declaredIn(coreos);

/** Waits until the status says that so many members serve and nothing is under way. */
async function saysSettled(
  within: Within,
  cluster: string,
  { api, size, seconds }: { api: Api; size: number; seconds: number },
): Promise<void> {
  const claims = [
    field(`.status.${api.status.ready}`, size),
    field(`.status.${api.status.size}`, size),
    condition('Progressing', 'False'),
    field('.status.conditions[?(@.type=="Progressing")].reason', 'AsDesired'), // and not blocked, paused or out of contact
  ];
  const what = claims.map((claim) => claim.what).join(', ');
  await waitFor(within, cluster, { what, holds: (object) => claims.every(({ holds }) => holds(object)), seconds });
}

/**
 * Clients do not look their servers up for every request: an answer is used while the next one is being fetched. Whoever has
 * not asked for a while gets the next one: what was true then need not be now.
 */
function remembered<T>(millis: number, ask: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  const fetchNext = (age: number): void => {
    fetchedAt = performance.now();
    const next = ask();
    if (current === undefined || age > 5 * millis) current = next;
    next.then(() => (current = next)).catch(() => undefined); // whoever uses the old answer finds out by itself
  };
  return () => {
    const age = performance.now() - fetchedAt;
    if (age > millis) fetchNext(age);
    return current ?? ask();
  };
}
