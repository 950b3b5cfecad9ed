import type { Carrier, CarrierName, ClusterWorld } from '../../core/model/cluster.ts';
import { ports } from '../../core/model/template.ts';
import type { ReadCluster, SecretOfClient } from '../../dialects/dialect.ts';
import type { EtcdConnection } from '../../etcd/client.ts';
import type { TlsIdentity } from '../../etcd/endpoint.ts';
import type { Pod, Stored } from '../../kube/object.ts';
import { secrets } from '../../kube/resource.ts';
import { Failure } from '../../std/failure.ts';
import { carriersOf } from './carriers.ts';
import { seeMembership } from './membership.ts';
import { ownerIndex, type Tools } from './sources.ts';

/** What a pass works with: what it knows, and the ways to those whom it may have to ask for something. */
export interface Observed {
  readonly world: ClusterWorld;
  readonly connectionTo: (name: CarrierName) => EtcdConnection | undefined;
}

/**
 * Gathers all that a pass may know. The order matters: carriers first, members after. A body is made only when etcd knows
 * of its member, so one that we see now and do not find in a list that is read later is nobody's.
 */
export async function observe(read: ReadCluster, tools: Tools, signal: AbortSignal): Promise<Observed> {
  const { intent } = read.blueprint;
  const pods = tools.caches.pods.by(ownerIndex, intent.uid);
  const claims = tools.caches.claims.by(ownerIndex, intent.uid);
  const carriers = carriersOf({ pods, claims }, read.blueprint);

  const connections = await connectionsTo(pods, read, tools);
  const asked = carriers.filter(mayAnswer).flatMap(({ name }) => connections.get(name) ?? []);
  return {
    world: {
      now: tools.now().getTime(),
      intent,
      memory: read.memory,
      carriers,
      membership: await seeMembership(asked, { signal, timeoutMillis: patience(read) }),
      spareNames: spareNames(intent.name, tools),
    },
    connectionTo: (name) => connections.get(name),
  };
}

/** Founders that are still finding each other take a question and do not answer it; asking again soon is better. */
const patience = ({ memory }: ReadCluster): number => (memory.clusterId === undefined ? 300 : 2_000);

const mayAnswer = ({ phase, hasRun }: Carrier): boolean => hasRun && phase !== 'ended' && phase !== 'gone';

/** Enough for the largest cluster, in case it has to be founded. */
const spareNames = (cluster: string, { randomName }: Tools): readonly CarrierName[] =>
  Array.from({ length: 9 }, () => randomName(cluster) as CarrierName);

async function connectionsTo(
  pods: readonly Stored<Pod>[],
  { blueprint, operatorSecret }: ReadCluster,
  tools: Tools,
): Promise<ReadonlyMap<string, EtcdConnection>> {
  const { intent, naming, template } = blueprint;
  const tls = operatorSecret === undefined ? undefined : await identityIn(operatorSecret, intent.namespace, tools);
  const scheme = template.clientTLS === undefined ? 'http' : 'https';
  const reachable = pods.flatMap(({ metadata, status }) =>
    status?.podIP ? [{ name: metadata.name, host: status.podIP }] : [],
  );
  return new Map(
    reachable.map(({ name, host }) => {
      const url = `${scheme}://${name}.${naming.peerService}.${intent.namespace}.svc:${ports.client}`;
      const endpoint = { url, dial: { host, port: ports.client }, ...(tls === undefined ? {} : { tls }) };
      return [name, tools.etcd.to(endpoint)];
    }),
  );
}

/** Read anew in every pass: a certificate that was renewed is used at once. */
async function identityIn(secret: SecretOfClient, namespace: string, { client }: Tools): Promise<TlsIdentity> {
  const { data = {} } = await client.get(secrets, { namespace, name: secret.name });
  const text = (file: string): string => {
    const content = data[file];
    if (content !== undefined) return Buffer.from(content, 'base64').toString();
    throw new Failure('not-found', `Secret ${secret.name} has no ${file}, which the operator needs to enter etcd`);
  };
  return { ca: text(secret.authority), cert: text(secret.certificate), key: text(secret.key) };
}
