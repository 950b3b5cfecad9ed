import type { EtcdConnection } from '../../src/etcd/client.ts';
import { EtcdConnections } from '../../src/etcd/connections.ts';
import { type EtcdMember, hexOf } from '../../src/etcd/words.ts';
import type { Kubectl } from './kubectl.ts';
import { type Entry, endpointsOf } from './member-endpoints.ts';
import { until } from './until.ts';

export interface ClusterSpec {
  readonly size: number;
  readonly version: string;
  /** With disks of their own, or without. */
  readonly durable?: boolean;
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly pod?: Readonly<Record<string, unknown>>;
}

/** An EtcdCluster of a story's, as its user sees it and as its clients do. */
export interface DeclaredCluster {
  readonly name: string;
  readonly apply: (spec: ClusterSpec) => Promise<void>;
  /** Waits until that many members serve and nothing is under way. */
  readonly settled: (size: number, seconds?: number) => Promise<void>;
  /** Waits until a member is gone, and then until all is settled again. */
  readonly replaced: (victim: string, size: number) => Promise<void>;
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

const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '256Mi' } } };

export const manifestOf = (name: string, { size, version, durable, pod, extra }: ClusterSpec): string =>
  JSON.stringify({
    apiVersion: 'etcd.database.coreos.com/v1beta2',
    kind: 'EtcdCluster',
    metadata: { name },
    spec: {
      size,
      version,
      ...extra,
      pod: { ...(durable === true ? { persistentVolumeClaimSpec: claim } : {}), ...pod },
    },
  });

export function declared(kubectl: Kubectl, name = 'db', entry: Entry = {}): DeclaredCluster {
  const ofPods = async (path: string): Promise<readonly string[]> =>
    (await kubectl(`get pods -l etcd_cluster=${name} -o jsonpath={.items[*]${path}}`)).split(' ').filter(Boolean);
  const connections = new EtcdConnections();
  const endpoints = remembered(1_000, () => endpointsOf(kubectl, name, entry));
  const withMembers: DeclaredCluster['withMembers'] = async (use) =>
    use((await endpoints()).map((endpoint) => connections.to(endpoint)));
  const asked = (): Promise<readonly EtcdMember[]> =>
    withMembers((all) => Promise.any(all.map((connection) => connection.memberList({ timeoutMillis: 10_000 }))));
  const members = (): Promise<readonly EtcdMember[]> => until('etcd tells its members', asked, { seconds: 30 });
  const voters = async (size: number): Promise<void> => {
    const areAll = (list: readonly EtcdMember[]): boolean =>
      list.length === size && list.every((member) => !member.isLearner && member.name !== '');
    await until(`${size} voters`, async () => areAll(await members()) || undefined, { seconds: 120 });
  };
  const settled = async (size: number, seconds = 120): Promise<void> => {
    await saysSettled(kubectl, `etcdcluster/${name}`, { size, seconds });
    await voters(size);
  };
  return {
    name,
    voters,
    settled,
    replaced: async (victim, size) => {
      const isGone = async () => (await members()).every((member) => member.name !== victim) || undefined;
      await until(`${victim} is no member`, isGone, { seconds: 120 });
      await settled(size);
    },
    apply: async (spec) => void (await kubectl('apply -f -', { input: manifestOf(name, spec) })),
    podNames: () => ofPods('.metadata.name'),
    withMembers,
    members,
    ids: async () => (await members()).map(({ id }) => hexOf(id)).toSorted(),
    status: async () => (await kubectl.json<{ status: Record<string, unknown> }>(`get etcdcluster ${name}`)).status,
  };
}

/** Waits until the status says that so many members serve and nothing is under way. */
async function saysSettled(
  kubectl: Kubectl,
  cluster: string,
  { size, seconds }: { size: number; seconds: number },
): Promise<void> {
  for (const what of [
    `jsonpath={.status.readyMembers}=${size}`,
    `jsonpath={.status.size}=${size}`,
    'condition=Progressing=False',
  ]) {
    await kubectl(`wait ${cluster} --for=${what} --timeout=${seconds}s`);
  }
}

/** Clients do not look their servers up for every request: an answer is used while the next one is being fetched. */
function remembered<T>(millis: number, ask: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  const fetchNext = (): void => {
    fetchedAt = performance.now();
    const next = ask();
    current ??= next;
    next.then(() => (current = next)).catch(() => undefined); // whoever uses the old answer finds out by itself
  };
  return () => {
    if (performance.now() - fetchedAt > millis) fetchNext();
    return current ?? ask();
  };
}
