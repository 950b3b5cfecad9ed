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
import { claimsOf, recollect } from './claims-of.ts';
import { tooLittleSay, wrongPassword } from './judge-credentials.ts';
import { type Asked, seeMembership, withLeavers } from './membership.ts';
import { nextPlanes, planesOf } from './planes.ts';
import { certificatesOf, lookAtSecurity, type Security, withKeys } from './security.ts';
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
  const claims = claimsOf(read.blueprint, tools.caches);
  const { memory, leftDisks, ...bodies } = recollect(read, { pods, claims });
  const planes = nextPlanes({ ...read, memory }, { pods, claims });
  const secrets = await lookAtSecurity(read, planes, tools);
  const blueprintFor = (spoken: Planes): Blueprint => speaking(withKeys(read.blueprint, secrets), spoken);
  const blueprint = blueprintFor(planes);
  const carriers = carriersOf(bodies, blueprint);

  const connections = connectionsTo(pods, { blueprint, secrets }, tools);
  const connectionTo: Observed['connectionTo'] = (name) => connections.get(name);
  const patience = (carrier: Carrier): number => patienceWith(carrier, read, tools);
  const sighting = await membersSeen(carriers, { locked: secrets.locked, connectionTo, patience }, signal);
  const membership = withLeavers(sighting, carriers);
  return {
    blueprint,
    planes,
    blueprintFor,
    certificates: secrets.certificates,
    managedCertificates: read.managedCertificates,
    world: {
      now: tools.now().getTime(),
      intent: blueprint.intent,
      memory,
      carriers,
      membership,
      secretProblems: [...secrets.problems, ...refusedUser(membership, read)],
      certificates: await certificatesOf(secrets, pods, tools),
      hasUsers: await hasUsers({ membership, intent: blueprint.intent }, connectionTo, signal),
      spareNames: spareNames({ blueprint, memory }, [...pods, ...claims], tools),
      leftDisks,
    },
    connectionTo,
  };
}

interface Asking {
  readonly locked: string | undefined;
  readonly connectionTo: Observed['connectionTo'];
  /** For how long to wait for an answer, in milliseconds. */
  readonly patience: (carrier: Carrier) => number;
}

async function membersSeen(
  carriers: readonly Carrier[],
  { locked, connectionTo, patience }: Asking,
  signal: AbortSignal,
): Promise<ClusterWorld['membership']> {
  if (locked !== undefined) return { seen: false, why: locked };
  const asked = carriers.filter(mayAnswer).flatMap((carrier): readonly Asked[] => {
    const connection = connectionTo(carrier.name);
    const asking = { signal, timeoutMillis: patience(carrier) };
    return connection === undefined ? [] : [{ connection, asking }];
  });
  return seeMembership(asked);
}

/** That etcd does not let our user in is a flaw of the Secret that names it, or of the spec that names none. */
function refusedUser(membership: ClusterWorld['membership'], { operatorCredentials }: ReadCluster): readonly string[] {
  if (membership.seen || membership.refused === undefined) return [];
  if (operatorCredentials === undefined) return [noUser];
  return [(membership.refused === 'unknown-user' ? wrongPassword : tooLittleSay)(operatorCredentials)];
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
  const endpoint = (pod: Stored<Pod>): Endpoint =>
    wayOf(pod, { ...endpointOf(pod, entry, blueprint), ...entry }, tools);
  return new Map(reachable.map((pod) => [pod.metadata.name, tools.etcd.to(endpoint(pod))]));
}

export const wayOf = ({ metadata }: Stored<Pod>, endpoint: Endpoint, { wayTo }: Pick<Tools, 'wayTo'>): Endpoint =>
  wayTo === undefined || endpoint.dial === undefined ? endpoint : { ...endpoint, way: wayTo(metadata, endpoint.dial) };

/** Each is spoken to as it was made to listen; who takes both is spoken to without encryption only where we have no certificate. */
const schemeFor = (client: Encryption, { tls }: Security['entry']): 'http' | 'https' =>
  client === 'encrypted' || (client === 'between' && tls !== undefined) ? 'https' : 'http';

/** The pod's address is dialled, and its own name expected there. */
export function endpointOf(pod: Stored<Pod>, entry: Security['entry'], { intent, naming }: Blueprint): Endpoint {
  const { metadata, status } = pod;
  const scheme = schemeFor(planesOf(pod).client, entry);
  const url = `${scheme}://${metadata.name}.${naming.peerService}.${intent.namespace}.svc:${ports.client}`;
  return { url, dial: { host: status?.podIP ?? '', port: ports.client } };
}
