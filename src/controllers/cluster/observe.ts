import type { Blueprint } from '../../core/desired/manifest.ts';
import type { Carrier, CarrierName, ClusterWorld } from '../../core/model/cluster.ts';
import { ports } from '../../core/model/template.ts';
import type { ReadCluster, SecretOfClient } from '../../dialects/dialect.ts';
import type { EtcdConnection } from '../../etcd/client.ts';
import type { Endpoint, TlsIdentity } from '../../etcd/endpoint.ts';
import type { Pod, Stored } from '../../kube/object.ts';
import { secrets } from '../../kube/resource.ts';
import { Failure } from '../../std/failure.ts';
import { carriersOf } from './carriers.ts';
import { type Asked, seeMembership } from './membership.ts';
import { ownerIndex, type Tools } from './sources.ts';
import { spareNames } from './spare-names.ts';

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

  const { connections, why } = await connectionsTo(pods, read, tools);
  const asked = carriers.filter(mayAnswer).flatMap((carrier): readonly Asked[] => {
    const connection = connections.get(carrier.name);
    const asking = { signal, timeoutMillis: patienceWith(carrier, read, tools) };
    return connection === undefined ? [] : [{ connection, asking }];
  });
  return {
    world: {
      now: tools.now().getTime(),
      intent,
      memory: read.memory,
      carriers,
      membership: why === undefined ? await seeMembership(asked) : { seen: false, why },
      spareNames: spareNames(read, [...pods, ...claims], tools),
    },
    connectionTo: (name) => connections.get(name),
  };
}

/**
 * Founders that are still finding each other, and newcomers that are not ready, take a question and do not answer it; a
 * member that is being stopped may be gone while its pod is still listed. There asking again soon is better than to keep
 * everybody waiting. But from outside the cluster it may take longer than that to get to them at all.
 */
function patienceWith({ phase, ready }: Carrier, { memory }: ReadCluster, { wayTo }: Tools): number {
  if (wayTo !== undefined) return 2_000;
  return memory.clusterId === undefined || phase === 'stopping' || !ready ? 300 : 2_000;
}

const mayAnswer = ({ phase, hasRun }: Carrier): boolean => hasRun && phase !== 'ended' && phase !== 'gone';

interface Ways {
  readonly connections: ReadonlyMap<string, EtcdConnection>;
  /** What keeps us from asking anybody, if something does. */
  readonly why?: string;
}

/** A Secret that is missing or unfit is news for the status, like an etcd that does not answer. */
async function connectionsTo(pods: readonly Stored<Pod>[], read: ReadCluster, tools: Tools): Promise<Ways> {
  const { operatorSecret, blueprint } = read;
  try {
    const tls = operatorSecret && (await identityIn(operatorSecret, blueprint.intent.namespace, tools));
    const reachable = pods.filter(({ status }) => status?.podIP !== undefined);
    const endpoint = (pod: Stored<Pod>): Endpoint => wayOf(pod, endpointOf(pod, blueprint, tls), tools);
    return { connections: new Map(reachable.map((pod) => [pod.metadata.name, tools.etcd.to(endpoint(pod))])) };
  } catch (thrown) {
    const failure = Failure.from(thrown);
    if (failure.kind === 'bug') throw failure;
    return { connections: new Map(), why: failure.message };
  }
}

const wayOf = ({ metadata }: Stored<Pod>, endpoint: Endpoint, { wayTo }: Tools): Endpoint =>
  wayTo === undefined || endpoint.dial === undefined ? endpoint : { ...endpoint, way: wayTo(metadata, endpoint.dial) };

/** The pod's address is dialled, and its own name expected there. */
function endpointOf(
  { metadata, status }: Stored<Pod>,
  { intent, naming, template }: Blueprint,
  tls?: TlsIdentity,
): Endpoint {
  const scheme = template.clientTLS === undefined ? 'http' : 'https';
  const url = `${scheme}://${metadata.name}.${naming.peerService}.${intent.namespace}.svc:${ports.client}`;
  return { url, dial: { host: status?.podIP ?? '', port: ports.client }, ...(tls === undefined ? {} : { tls }) };
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
