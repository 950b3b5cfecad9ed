import type { EtcdConnection } from '../../src/etcd/client.ts';
import { EtcdConnections } from '../../src/etcd/connections.ts';
import { type EtcdMember, hexOf } from '../../src/etcd/words.ts';
import { type Api, type ClusterSpec, coreos, manifestOf } from './apis.ts';
import type { Kubectl } from './kubectl.ts';
import { type Entry, endpointsOf } from './member-endpoints.ts';
import { until } from './until.ts';

/** An EtcdCluster of a story's, as its user sees it and as its clients do. */
export interface DeclaredCluster {
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
      ...{ name, resource, label },
      ...waitsFor({ kubectl, resource, label, api }, { members, ids }),
      apply: async (spec) => void (await kubectl('apply -f -', { input: manifestOf(name, spec, api) })),
      podNames: async () =>
        (await kubectl(`get pods -l ${label} -o jsonpath={.items[*].metadata.name}`)).split(' ').filter(Boolean),
      withMembers,
      members,
      ids,
      status: async () => (await kubectl.json<{ status: Record<string, unknown> }>(`get ${resource}`)).status,
    };
  };

type Asking = Pick<DeclaredCluster, 'members' | 'ids'>;

interface Asked {
  readonly kubectl: Kubectl;
  readonly resource: string;
  readonly label: string;
  readonly api: Api;
}

/** What stories wait for, by what the status says and then by what etcd does. */
function waitsFor(
  { kubectl, resource, label, api }: Asked,
  { members, ids }: Asking,
): Pick<DeclaredCluster, 'voters' | 'settled' | 'replaced' | 'healed' | 'renewed'> {
  const voters = async (size: number): Promise<void> => {
    await until(`${size} voters`, async () => {
      const list = await members();
      return (list.length === size && list.every((member) => !member.isLearner && member.name !== '')) || undefined;
    });
  };
  const settled = async (size: number, seconds = 120): Promise<void> => {
    await saysSettled(kubectl, resource, { api, size, seconds });
    await voters(size);
    // Whom etcd has let go of is no longer spoken of, while its pod is still being stopped.
    await until('no pod is being stopped', async () => !(await areLeaving(label, kubectl)) || undefined);
  };
  const settledAfter = async (what: string, isSo: () => Promise<boolean>, size: number): Promise<void> => {
    await until(what, async () => (await isSo()) || undefined, { seconds: 120 });
    await voters(size); // until then the status may be the one of before
    await settled(size);
  };
  const replaced: DeclaredCluster['replaced'] = (victim, size) =>
    settledAfter(`${victim} is no member`, async () => (await members()).every(({ name }) => name !== victim), size);
  const returned: DeclaredCluster['replaced'] = (victim, size) =>
    settledAfter(`the pod ${victim} is back`, () => isBack(victim, kubectl), size);
  return {
    ...{ voters, settled, replaced, healed: api.isNumbered ? returned : replaced },
    renewed: (before, size) =>
      settledAfter('another member', async () => (await ids()).some((id) => !before.includes(id)), size),
  };
}

/** It is ready, and not the one that is being stopped. */
async function isBack(pod: string, kubectl: Kubectl): Promise<boolean> {
  const state = `{.metadata.deletionTimestamp}/{.status.conditions[?(@.type=="Ready")].status}`;
  return (await kubectl(`get pod ${pod} -o jsonpath='${state}'`)) === '/True';
}

const areLeaving = async (label: string, kubectl: Kubectl): Promise<boolean> =>
  (await kubectl(`get pods -l ${label} -o jsonpath={.items[*].metadata.deletionTimestamp}`)) !== '';

/** In the API of the book. */
export const declared = declaredIn(coreos);

/** Waits until the status says that so many members serve and nothing is under way. */
async function saysSettled(
  kubectl: Kubectl,
  cluster: string,
  { api, size, seconds }: { api: Api; size: number; seconds: number },
): Promise<void> {
  for (const what of [
    `jsonpath={.status.${api.status.ready}}=${size}`,
    `jsonpath={.status.${api.status.size}}=${size}`,
    'condition=Progressing=False',
  ]) {
    await kubectl(`wait ${cluster} --for=${what} --timeout=${seconds}s`);
  }
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
