import type { ManagedCertificates } from '../../core/certificates/due.ts';
import { type Encryption, type Planes, speaking } from '../../core/desired/encryption.ts';
import type { Blueprint } from '../../core/desired/manifest.ts';
import type { Carrier, ClusterWorld, Refusal } from '../../core/model/cluster.ts';
import type { CarrierName } from '../../core/model/names.ts';
import { ports } from '../../core/model/template.ts';
import { nextMinor } from '../../core/plan/cluster/outdated.ts';
import { quorumOf } from '../../core/quorum.ts';
import type { ReadCluster } from '../../dialects/dialect.ts';
import type { EtcdConnection } from '../../etcd/client.ts';
import type { Endpoint } from '../../etcd/endpoint.ts';
import { keyOf, type Pod, type Stored } from '../../kube/object.ts';
import { Failure } from '../../std/failure.ts';
import { type Bodies, carriersOf, nameOfBody } from './carriers.ts';
import type { CertificatesSeen } from './certificates.ts';
import { allClaimsOf, claimsOf, recollect } from './claims-of.ts';
import { monotonicOf } from './freshness.ts';
import { keepersOf, podsOf } from './inherited.ts';
import { tooLittleSay, wrongPassword } from './judge-credentials.ts';
import { volumesSeen } from './kept-volumes.ts';
import { leftSecrets } from './left-secrets.ts';
import { memberIn } from './member-claim.ts';
import { type Asked, seeMembership, withLeavers } from './membership.ts';
import { keepingPins } from './pins.ts';
import { clientMoveOf, nextPlanes, planesOf, planesWithoutCertificates, trustedWithPassword } from './planes.ts';
import { lookAtSafeguard } from './safeguard.ts';
import { certificatesOf, lookAtSecurity, type Security, withKeys } from './security.ts';
import type { Tools } from './sources.ts';
import { spareNames } from './spare-names.ts';
import { hasUsers, noUser, weighed } from './users.ts';
import type { Watched } from './watched.ts';

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
  readonly backupBeforeUpgrade: string | undefined;
  /** Why it is not known which Secret a new pod has to mount. */
  readonly unreadSecret?: string | undefined;
  readonly connectionTo: (name: CarrierName) => EtcdConnection | undefined;
  readonly podWith: (uid: string) => Stored<Pod> | undefined;
  /** When members had been asked, by the monotonic clock. */
  readonly heardAt: number;
}

/**
 * Gathers all that a pass may know. The order matters: carriers first, members after. A body is made only when etcd knows
 * of its member, so one that we see now and do not find in a list that is read later is nobody's.
 */
export async function observe(cluster: ReadCluster, tools: Tools, signal: AbortSignal): Promise<Observed> {
  const { read, pods, claims } = withBodiesOf(cluster, tools);
  const keepers = await keepersOf(read, tools, signal);
  const { memory, leftDisks, strangeDisks, unused, ...bodies } = recollect(read, { pods, claims }, keepers.keepers);
  const speech = await lookAtSpeech({ ...read, memory }, { ...bodies, pods }, tools);
  const { planes, secrets, unreadSecret, startsWithoutSecrets } = speech;
  const blueprintFor = (spoken: Planes): Blueprint => speaking(withKeys(read.blueprint, secrets), spoken);
  const blueprint = blueprintFor(planes);
  const carriers = carriersOf(bodies, blueprint);

  const needless = await leftSecrets({ ...read, memory }, secrets, tools); // before members are asked: it may take long
  const known = { carriers, pods, read, memory, blueprint, secrets };
  const { sighting, connectionTo, heardAt } = await askMembers(known, tools, signal);
  const shutOut = refusedUser(sighting.seen ? undefined : sighting.refused, { ...read, ...secrets });
  const membership = because(shutOut, withLeavers(sighting, carriers));
  const watched = withTimes({ carriers, membership, memory }, { blueprint, tools });
  const takenClaims = allClaimsOf(blueprint, tools.caches).filter((claim) => !unused.includes(claim));
  const world: ClusterWorld = {
    now: tools.now().getTime(),
    intent: blueprint.intent,
    ...{ memory, ...watched, startsWithoutSecrets },
    clientMove: clientMoveOf({ ...read, memory }, bodies),
    ...(await weighed({ ...secrets, problems: [...secrets.problems, ...shutOut], membership }, connectionTo, signal)),
    certificates: await certificatesOf(secrets, pods, tools),
    leftSecrets: needless,
    hasUsers: await hasUsers({ membership, intent: blueprint.intent }, connectionTo, signal),
    ...spareNames({ blueprint, memory }, namesOf(pods, takenClaims), tools),
    ...{ leftDisks, strangeDisks, ...volumesSeen(bodies.claims, blueprint, tools) },
    ...keepers,
  };
  const { certificates } = secrets;
  const { managedCertificates, backupBeforeUpgrade } = read;
  return {
    ...{ blueprint, planes, blueprintFor, certificates, managedCertificates, backupBeforeUpgrade, connectionTo },
    ...{ unreadSecret, heardAt, podWith: (uid) => pods.find(({ metadata }) => metadata.uid === uid) },
    world: { ...world, safeguard: await safeguardOf(read, world, tools) },
  };
}

interface Known extends Pick<ClusterWorld, 'carriers' | 'memory'> {
  readonly pods: readonly Stored<Pod>[];
  readonly read: ReadCluster;
  readonly blueprint: Blueprint;
  readonly secrets: Security;
}

interface Heard extends Pick<Observed, 'connectionTo' | 'heardAt'> {
  readonly sighting: ClusterWorld['membership'];
}

async function askMembers(known: Known, tools: Tools, signal: AbortSignal): Promise<Heard> {
  const { carriers, pods, read, memory, blueprint, secrets } = known;
  const connections = connectionsTo(pods, { blueprint, secrets }, tools);
  const connectionTo: Observed['connectionTo'] = (name) => connections.get(name);
  const patience = (carrier: Carrier): number => patienceWith(carrier, read, tools);
  const founders = memory.clusterId === undefined ? memory.bootstrap?.members.length : undefined;
  const asking = { locked: secrets.locked, founders, now: tools.now(), connectionTo, patience };
  const sighting = await withOldAlarms(membersSeen(carriers, asking, signal), { blueprint, tools, connectionTo });
  return { sighting, connectionTo, heardAt: monotonicOf(tools) };
}

/** An API server that does not answer keeps members from the next minor, and from nothing else. */
export const safeguardOf: typeof lookAtSafeguard = (read, world, tools) =>
  lookAtSafeguard(read, world, tools).catch((thrown: unknown) => {
    const { kind, message } = Failure.from(thrown);
    if (kind === 'bug') throw thrown;
    return { name: `${read.blueprint.intent.name}-before-${nextMinor(world)}`, state: 'under-way', why: message };
  });

interface Watching {
  readonly blueprint: Blueprint;
  readonly tools: Pick<Tools, 'watched'>;
}

const withTimes = (seen: Parameters<Watched['see']>[1], { blueprint, tools }: Watching): ReturnType<Watched['see']> =>
  tools.watched?.see(keyOf(blueprint.intent), seen) ?? { carriers: seen.carriers, membership: seen.membership };

async function withOldAlarms(
  seeing: Promise<ClusterWorld['membership']>,
  { blueprint, tools, connectionTo }: Watching & Pick<Observed, 'connectionTo'>,
): Promise<ClusterWorld['membership']> {
  const sighting = await seeing;
  return (await tools.watched?.oldAlarms.added(keyOf(blueprint.intent), sighting, connectionTo)) ?? sighting;
}

function withBodiesOf(asked: ReadCluster, tools: Tools): Bodies & { readonly read: ReadCluster } {
  const pods = podsOf(asked, tools);
  const read = keepingPins(asked, pods);
  return { read, pods, claims: claimsOf(read.blueprint, tools.caches) };
}

interface Speech extends Pick<ClusterWorld, 'startsWithoutSecrets'> {
  readonly planes: Planes;
  readonly secrets: Security;
  readonly unreadSecret: Observed['unreadSecret'];
}

/** How members are to speak next, and what there is for it. */
async function lookAtSpeech(read: ReadCluster, bodies: Bodies, tools: Tools): Promise<Speech> {
  const next = nextPlanes(read, bodies);
  const secrets = await lookAtSecurity(read, { planes: next, pods: bodies.pods }, tools);
  const areUnfit = secrets.problems.some((says) => says !== secrets.userFlaw); // members need no user to speak
  const hasNone = areUnfit && secrets.template.kept === undefined;
  const planes = hasNone ? planesWithoutCertificates(next, bodies, read.blueprint) : next;
  const unreadSecret = isPlain(planes) ? undefined : secrets.unread;
  return {
    planes,
    secrets,
    unreadSecret,
    ...(hasNone ? { startsWithoutSecrets: isPlain(planes) && !isPlain(next) } : {}),
  };
}

const isPlain = ({ peer, client }: Planes): boolean => peer === 'plain' && client === 'plain';

const namesOf = (pods: Bodies['pods'], claims: Bodies['claims']): readonly string[] => [
  ...pods.map(nameOfBody),
  ...claims.map(memberIn),
];

interface Asking {
  readonly locked: string | undefined;
  /** How many they are, as long as it is not known that they have found each other. */
  readonly founders: number | undefined;
  readonly now: Date;
  readonly connectionTo: Observed['connectionTo'];
  /** For how long to wait for an answer, in milliseconds. */
  readonly patience: (carrier: Carrier) => number;
}

async function membersSeen(
  carriers: readonly Carrier[],
  { locked, founders, now, connectionTo, patience }: Asking,
  signal: AbortSignal,
): Promise<ClusterWorld['membership']> {
  if (locked !== undefined) return { seen: false, why: locked };
  const asked = carriers.filter(mayAnswer).flatMap((carrier): readonly Asked[] => {
    const connection = connectionTo(carrier.name);
    const asking = { signal, timeoutMillis: patience(carrier) };
    return connection === undefined ? [] : [{ name: carrier.name, connection, asking }];
  });
  const areFinding = founders !== undefined && !carriers.some(({ ready }) => ready);
  return areFinding ? foundersSeen(asked, founders, now) : seeMembership(asked);
}

/**
 * Founders do not answer before a majority of them has found each other, and many clusters may be founded at once: one of
 * them is asked whether it is so, each time another, and all only when it is.
 */
async function foundersSeen(asked: readonly Asked[], founders: number, now: Date): Promise<ClusterWorld['membership']> {
  const turn = Math.floor(now.getTime() / 500) % Math.max(asked.length, 1);
  const first = asked.length < quorumOf(founders) ? [] : asked.slice(turn, turn + 1);
  const heard = await seeMembership(first);
  return heard.seen ? seeMembership(asked) : heard;
}

/** That etcd does not let our user in is a flaw of the Secret that names it, or of the spec that names none. */
export function refusedUser(refused: Refusal | undefined, { operatorCredentials, userFlaw }: Named): readonly string[] {
  if (refused === undefined) return [];
  if (userFlaw !== undefined) return [userFlaw];
  if (operatorCredentials === undefined) return [noUser];
  return [(refused === 'unknown-user' ? wrongPassword : tooLittleSay)(operatorCredentials)];
}

const because = ([why]: readonly string[], sighting: ClusterWorld['membership']): ClusterWorld['membership'] =>
  sighting.seen || why === undefined ? sighting : { ...sighting, why };

type Named = Pick<ReadCluster, 'operatorCredentials'> & Pick<Security, 'userFlaw'>;

/**
 * Founders that are still finding each other, and newcomers that are not ready, take a question and do not answer it; a
 * member that is being stopped may be gone while its pod is still listed. There asking again soon is better than to keep
 * everybody waiting. But from outside the cluster it may take longer than that to get to them at all.
 */
function patienceWith({ phase, ready }: Carrier, { memory }: ReadCluster, { wayTo }: Tools): number {
  if (wayTo !== undefined) return 2_000;
  const isForming = memory.bootstrap !== undefined && memory.clusterId === undefined;
  return isForming || phase === 'stopping' || !ready ? 300 : 2_000;
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
  const own = pods.filter(({ metadata }) => metadata.namespace === blueprint.intent.namespace);
  const reachable = locked === undefined ? own.filter(({ status }) => hasAddress(status)) : [];
  const trusted = trustedWithPassword(own, blueprint);
  const entryTo = (pod: Stored<Pod>): Security['entry'] => (trusted.has(pod) ? entry : withoutPassword(entry));
  const endpoint = (pod: Stored<Pod>): Endpoint =>
    wayOf(pod, { ...endpointOf(pod, entry, blueprint), ...entryTo(pod), owner: keyOf(blueprint.intent) }, tools);
  const to = (pod: Stored<Pod>): EtcdConnection => tools.etcd.to(endpoint(pod));
  const connections = new Map(reachable.map((pod) => [nameOfBody(pod), to(pod)]));
  tools.etcd.keepOnly(keyOf(blueprint.intent), [...connections.values()]);
  return connections;
}

/** The address of a pod that has ended may be another pod's. */
const hasAddress = (status: Pod['status']): boolean =>
  status?.podIP !== undefined && status.phase !== 'Failed' && status.phase !== 'Succeeded';

const withoutPassword = ({ tls }: Security['entry']): Security['entry'] => (tls === undefined ? {} : { tls });

export const wayOf = ({ metadata }: Stored<Pod>, endpoint: Endpoint, { wayTo }: Pick<Tools, 'wayTo'>): Endpoint =>
  wayTo === undefined || endpoint.dial === undefined
    ? endpoint
    : { ...endpoint, way: wayTo(metadata, endpoint.dial, endpoint) };

/** Each is spoken to as it was made to listen; who takes both is spoken to without encryption only where we have no certificate. */
const schemeFor = (client: Encryption, { tls }: Security['entry']): 'http' | 'https' =>
  client === 'encrypted' || (client === 'between' && tls !== undefined) ? 'https' : 'http';

/** The pod's address is dialled, and its own name expected there. */
export function endpointOf(pod: Stored<Pod>, entry: Security['entry'], { intent, naming }: Blueprint): Endpoint {
  const { status } = pod;
  const scheme = schemeFor(planesOf(pod).client, entry);
  const url = `${scheme}://${nameOfBody(pod)}.${naming.peerService}.${intent.namespace}.svc:${ports.client}`;
  return { url, dial: { host: status?.podIP ?? '', port: ports.client } };
}
