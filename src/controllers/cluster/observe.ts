import type { ManagedCertificates } from '../../core/certificates/due.ts';
import { type Encryption, type Planes, speaking } from '../../core/desired/encryption.ts';
import type { Blueprint } from '../../core/desired/manifest.ts';
import type { Carrier, CarrierName, ClusterWorld } from '../../core/model/cluster.ts';
import { ports } from '../../core/model/template.ts';
import type { ReadCluster } from '../../dialects/dialect.ts';
import type { EtcdConnection } from '../../etcd/client.ts';
import type { Endpoint } from '../../etcd/endpoint.ts';
import type { Pod, Stored } from '../../kube/object.ts';
import { carriersOf } from './carriers.ts';
import type { CertificatesSeen } from './certificates.ts';
import { tooLittleSay, wrongPassword } from './judge-credentials.ts';
import { type Asked, seeMembership } from './membership.ts';
import { nextPlanes, planesOf } from './planes.ts';
import { certificatesOf, lookAtSecurity, type Security } from './security.ts';
import { ownerIndex, type Tools } from './sources.ts';
import { spareNames } from './spare-names.ts';
import { hasUsers, noUser } from './users.ts';

/** What a pass works with: what it knows, and the ways to those whom it may have to ask for something. */
export interface Observed {
  readonly world: ClusterWorld;
  /** What the spec asks for, with what was found out about its Secrets. */
  readonly blueprint: Blueprint;
  /** How members are to speak next; and the blueprint of those who have to speak otherwise for a while. */
  readonly planes: Planes;
  readonly blueprintFor: (planes: Planes) => Blueprint;
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
  const { uid } = read.blueprint.intent;
  const pods = tools.caches.pods.by(ownerIndex, uid);
  const claims = tools.caches.claims.by(ownerIndex, uid);
  const planes = nextPlanes(read, { pods, claims });
  const secrets = await lookAtSecurity(read, planes, tools);
  const blueprintFor = (spoken: Planes): Blueprint => speaking(withKeys(read.blueprint, secrets), spoken);
  const blueprint = blueprintFor(planes);
  const carriers = carriersOf({ pods, claims }, blueprint);

  const connections = connectionsTo(pods, { blueprint, secrets }, tools);
  const asked = carriers.filter(mayAnswer).flatMap((carrier): readonly Asked[] => {
    const connection = connections.get(carrier.name);
    const asking = { signal, timeoutMillis: patienceWith(carrier, read, tools) };
    return connection === undefined ? [] : [{ connection, asking }];
  });
  const connectionTo: Observed['connectionTo'] = (name) => connections.get(name);
  const { locked } = secrets;
  const membership = locked === undefined ? await seeMembership(asked) : ({ seen: false, why: locked } as const);
  return {
    blueprint,
    planes,
    blueprintFor,
    certificates: secrets.certificates,
    managedCertificates: read.managedCertificates,
    world: {
      now: tools.now().getTime(),
      intent: blueprint.intent,
      memory: read.memory,
      carriers,
      membership,
      secretProblems: [...secrets.problems, ...refusedUser(membership, read)],
      certificates: await certificatesOf(secrets, pods, tools),
      hasUsers: await hasUsers({ membership, intent: blueprint.intent }, connectionTo, signal),
      spareNames: spareNames(read, [...pods, ...claims], tools),
    },
    connectionTo,
  };
}

/** That etcd does not let our user in is a flaw of the Secret that names it, or of the spec that names none. */
function refusedUser(membership: ClusterWorld['membership'], { operatorCredentials }: ReadCluster): readonly string[] {
  if (membership.seen || membership.refused === undefined) return [];
  if (operatorCredentials === undefined) return [noUser];
  return [(membership.refused === 'unknown-user' ? wrongPassword : tooLittleSay)(operatorCredentials)];
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
  const endpoint = (pod: Stored<Pod>): Endpoint => {
    const scheme = schemeFor(planesOf(pod).client, entry);
    return wayOf(pod, { ...endpointOf(pod, scheme, blueprint), ...entry }, tools);
  };
  return new Map(reachable.map((pod) => [pod.metadata.name, tools.etcd.to(endpoint(pod))]));
}

const wayOf = ({ metadata }: Stored<Pod>, endpoint: Endpoint, { wayTo }: Tools): Endpoint =>
  wayTo === undefined || endpoint.dial === undefined ? endpoint : { ...endpoint, way: wayTo(metadata, endpoint.dial) };

/** Each is spoken to as it was made to listen; who takes both is spoken to without encryption only where we have no certificate. */
const schemeFor = (client: Encryption, { tls }: Security['entry']): 'http' | 'https' =>
  client === 'encrypted' || (client === 'between' && tls !== undefined) ? 'https' : 'http';

/** The pod's address is dialled, and its own name expected there. */
function endpointOf({ metadata, status }: Stored<Pod>, scheme: string, { intent, naming }: Blueprint): Endpoint {
  const url = `${scheme}://${metadata.name}.${naming.peerService}.${intent.namespace}.svc:${ports.client}`;
  return { url, dial: { host: status?.podIP ?? '', port: ports.client } };
}
