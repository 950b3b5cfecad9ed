import type { ManagedCertificates } from '../../core/certificates/due.ts';
import type { Blueprint } from '../../core/desired/manifest.ts';
import type { Carrier, CarrierName, ClusterWorld } from '../../core/model/cluster.ts';
import { ports } from '../../core/model/template.ts';
import type { ReadCluster } from '../../dialects/dialect.ts';
import type { EtcdConnection } from '../../etcd/client.ts';
import type { Endpoint } from '../../etcd/endpoint.ts';
import type { Pod, Stored } from '../../kube/object.ts';
import { carriersOf } from './carriers.ts';
import type { CertificatesSeen } from './certificates.ts';
import { wrongPassword } from './judge-credentials.ts';
import { type Asked, seeMembership } from './membership.ts';
import { certificatesOf, lookAtSecurity, type Security } from './security.ts';
import { ownerIndex, type Tools } from './sources.ts';
import { spareNames } from './spare-names.ts';

/** What a pass works with: what it knows, and the ways to those whom it may have to ask for something. */
export interface Observed {
  readonly world: ClusterWorld;
  /** What the spec asks for, with what was found out about its Secrets. */
  readonly blueprint: Blueprint;
  /** What is kept for members, and what the spec says of certificates of our own making. */
  readonly certificates: CertificatesSeen | undefined;
  readonly managedCertificates: ManagedCertificates | undefined;
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
  const secrets = await lookAtSecurity(read, tools);
  const blueprint = withKeys(read.blueprint, secrets);
  const carriers = carriersOf({ pods, claims }, blueprint);

  const connections = connectionsTo(pods, { blueprint, secrets }, tools);
  const asked = carriers.filter(mayAnswer).flatMap((carrier): readonly Asked[] => {
    const connection = connections.get(carrier.name);
    const asking = { signal, timeoutMillis: patienceWith(carrier, read, tools) };
    return connection === undefined ? [] : [{ connection, asking }];
  });
  const { locked } = secrets;
  const membership = locked === undefined ? await seeMembership(asked) : ({ seen: false, why: locked } as const);
  return {
    blueprint,
    certificates: secrets.certificates,
    managedCertificates: read.managedCertificates,
    world: {
      now: tools.now().getTime(),
      intent,
      memory: read.memory,
      carriers,
      membership,
      secretProblems: [...secrets.problems, ...refusedUser(membership, read)],
      certificates: await certificatesOf(secrets, pods, tools),
      spareNames: spareNames(read, [...pods, ...claims], tools),
    },
    connectionTo: (name) => connections.get(name),
  };
}

/** That etcd does not let our user in is a flaw of the Secret that names it. */
function refusedUser(membership: ClusterWorld['membership'], { operatorCredentials }: ReadCluster): readonly string[] {
  if (membership.seen || membership.refused !== true || operatorCredentials === undefined) return [];
  return [wrongPassword(operatorCredentials)];
}

/** What the spec asks for, and under which keys its Secrets have it. */
const withKeys = (blueprint: Blueprint, { template }: Security): Blueprint => ({
  ...blueprint,
  template: { ...blueprint.template, ...template },
});

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

interface Means {
  readonly blueprint: Blueprint;
  readonly secrets: Security;
}

function connectionsTo(
  pods: readonly Stored<Pod>[],
  { blueprint, secrets: { entry, locked } }: Means,
  tools: Tools,
): ReadonlyMap<string, EtcdConnection> {
  const reachable = locked === undefined ? pods.filter(({ status }) => status?.podIP !== undefined) : [];
  const endpoint = (pod: Stored<Pod>): Endpoint => wayOf(pod, { ...endpointOf(pod, blueprint), ...entry }, tools);
  return new Map(reachable.map((pod) => [pod.metadata.name, tools.etcd.to(endpoint(pod))]));
}

const wayOf = ({ metadata }: Stored<Pod>, endpoint: Endpoint, { wayTo }: Tools): Endpoint =>
  wayTo === undefined || endpoint.dial === undefined ? endpoint : { ...endpoint, way: wayTo(metadata, endpoint.dial) };

/** The pod's address is dialled, and its own name expected there. */
function endpointOf({ metadata, status }: Stored<Pod>, { intent, naming, template }: Blueprint): Endpoint {
  const scheme = template.clientTLS === undefined ? 'http' : 'https';
  const url = `${scheme}://${metadata.name}.${naming.peerService}.${intent.namespace}.svc:${ports.client}`;
  return { url, dial: { host: status?.podIP ?? '', port: ports.client } };
}
