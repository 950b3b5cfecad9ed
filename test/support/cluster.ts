import type { EtcdConnection } from '../../src/etcd/client.ts';
import { EtcdConnections } from '../../src/etcd/connections.ts';
import type { EtcdMember } from '../../src/etcd/words.ts';
import type { Kubectl } from './kubectl.ts';
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
  /** Waits until etcd itself has so many voters, whatever the status says. */
  readonly voters: (size: number) => Promise<void>;
  readonly podNames: () => Promise<readonly string[]>;
  /** Connections to all members that had an address a moment ago. */
  readonly withMembers: <T>(use: (members: readonly EtcdConnection[]) => Promise<T>) => Promise<T>;
  readonly members: () => Promise<readonly EtcdMember[]>;
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

export function declared(kubectl: Kubectl, name = 'db'): DeclaredCluster {
  const podNames = async (): Promise<readonly string[]> => {
    const names = await kubectl(`get pods -l etcd_cluster=${name} -o jsonpath={.items[*].metadata.name}`);
    return names.split(' ').filter((each) => each !== '');
  };
  const connections = new EtcdConnections();
  const addresses = remembered(1_000, () =>
    kubectl(`get pods -l etcd_cluster=${name} -o jsonpath={.items[*].status.podIP}`),
  );
  const withMembers: DeclaredCluster['withMembers'] = async (use) => {
    const hosts = (await addresses()).split(' ').filter(Boolean);
    return use(hosts.map((host) => connections.to({ url: `http://${host}:2379` })));
  };
  const members = (): Promise<readonly EtcdMember[]> =>
    withMembers((all) => Promise.any(all.map((connection) => connection.memberList({ timeoutMillis: 2000 }))));
  const voters = async (size: number): Promise<void> => {
    await until(`${size} voters`, async () => {
      const list = await members();
      return (list.length === size && list.every((member) => !member.isLearner && member.name !== '')) || undefined;
    });
  };
  return {
    name,
    voters,
    apply: async (spec) => void (await kubectl('apply -f -', { input: manifestOf(name, spec) })),
    settled: async (size, seconds = 120) => {
      await kubectl(`wait etcdcluster/${name} --for=jsonpath={.status.readyMembers}=${size} --timeout=${seconds}s`);
      await kubectl(`wait etcdcluster/${name} --for=jsonpath={.status.size}=${size} --timeout=${seconds}s`);
      await kubectl(`wait etcdcluster/${name} --for=condition=Progressing=False --timeout=${seconds}s`);
      await voters(size);
    },
    podNames,
    withMembers,
    members,
    status: async () => (await kubectl.json<{ status: Record<string, unknown> }>(`get etcdcluster ${name}`)).status,
  };
}

/** Asks again only when the last answer is older than that: clients do not look their servers up for every request. */
function remembered<T>(millis: number, ask: () => Promise<T>): () => Promise<T> {
  let last: { readonly answer: Promise<T>; readonly at: number } | undefined;
  return () => {
    if (last === undefined || performance.now() - last.at > millis) last = { answer: ask(), at: performance.now() };
    return last.answer;
  };
}
