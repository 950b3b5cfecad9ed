import type { ReadCluster } from '../../../apis/common/dialect.ts';
import { type ClusterWorld, isKnown, type MemberPod } from '../../../core/cluster/model/cluster.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import { nextMinor } from '../../../core/cluster/plan/roll/outdated.ts';
import type { Blueprint } from '../../../core/manifests/manifest.ts';
import { type TlsModes, withTlsModes } from '../../../core/manifests/tls-mode.ts';
import type { ManagedCertificates } from '../../../core/pki/due.ts';
import { quorumOf } from '../../../core/quorum.ts';
import type { EtcdConnection } from '../../../etcd/client.ts';
import { keyOf, type Pod, type Stored } from '../../../kube/object.ts';
import { Failure } from '../../../std/failure.ts';
import type { ControllerContext } from '../../shared/context.ts';
import { monotonicOf } from '../act/freshness.ts';
import type { CertificatesSeen } from '../tls/member-bundle.ts';
import { clientMigrationOf, nextTlsModes, tlsModesWithoutCertificates } from '../tls/mode.ts';
import { obsoleteSecrets } from '../tls/obsolete-secrets.ts';
import { certificatesOf, observeSecurity, type Security, withKeys } from '../tls/tls-state.ts';
import { podsOf, replicaSetsOf } from './adoption.ts';
import { observePreUpgradeBackup } from './backup/pre-upgrade-backup.ts';
import { classifySecretProblems, hasUsers, refusedUser } from './etcd-auth.ts';
import { connectionsTo } from './etcd-connections.ts';
import { spareNames } from './free-names.ts';
import { keepImageDigests } from './image-digests.ts';
import { memberIn } from './member-pvc.ts';
import { memberNameOf, memberPodsOf, type PodsAndPvcs } from './members.ts';
import { type Asked, readMembership, withStoppingMembers } from './membership.ts';
import { allClaimsOf, claimsOf, type Recalled, recallFromPvcs } from './pvcs.ts';
import { observeVolumes } from './removed-volumes.ts';
import type { Watched } from './watched.ts';

/** The result of an observation: the world, and the access to etcd and pods that steps need. */
export interface Observed {
  readonly world: ClusterWorld;
  /** The blueprint of the spec, completed with the content of its Secrets. */
  readonly blueprint: Blueprint;
  /** The TLS modes of the next pods. */
  readonly tlsModes: TlsModes;
  /** Returns the blueprint of a pod that needs other TLS modes for a while. */
  readonly blueprintFor: (tlsModes: TlsModes) => Blueprint;
  /** The Secrets with certificates that the operator keeps for members. */
  readonly certificates: CertificatesSeen | undefined;
  /** The part of the spec about certificates that the operator issues. */
  readonly managedCertificates: ManagedCertificates | undefined;
  readonly backupBeforeUpgrade: string | undefined;
  /** Why the Secret that a new pod mounts could not be read. */
  readonly unreadSecret?: string | undefined;
  readonly connectionTo: (name: MemberName) => EtcdConnection | undefined;
  readonly podWith: (uid: string) => Stored<Pod> | undefined;
  /** The time when members had answered, on the monotonic clock. */
  readonly heardAt: number;
  /** False if one member answered for a settled cluster. */
  readonly hasAskedAll: boolean;
}

/**
 * Gathers everything that a pass decides by. Pods are listed before members: a pod is created only after etcd has added
 * its member. So a pod that is seen now and is missing from a later member list is an orphan.
 */
export async function observe(asked: ReadCluster, context: ControllerContext, signal: AbortSignal): Promise<Observed> {
  const inventory = await observeInventory(asked, context, signal);
  const { read, memory, pods } = inventory;
  const tls = await observeTls({ ...read, memory }, inventory, context);
  const { tlsModes, secrets, unreadSecret } = tls;
  const blueprintFor = (modes: TlsModes): Blueprint => withTlsModes(withKeys(read.blueprint, secrets), modes);
  const blueprint = blueprintFor(tlsModes);
  const connections = connectionsTo(pods, { blueprint, secrets }, context);
  const connectionTo: Observed['connectionTo'] = (name) => connections.get(name);
  const obsolete = await obsoleteSecrets({ ...read, memory }, secrets, context);
  const gathered = { ...inventory, ...tls, blueprint, connectionTo, obsolete };
  const etcd = await observeEtcd(gathered, context, signal);
  const world = await worldOf({ ...gathered, ...etcd }, context, signal);
  return {
    world: isKnown(world)
      ? { ...world, preUpgradeBackup: await preUpgradeBackupOrFailure(read, world, context) }
      : world,
    blueprint,
    tlsModes,
    blueprintFor,
    certificates: secrets.certificates,
    managedCertificates: read.managedCertificates,
    backupBeforeUpgrade: read.backupBeforeUpgrade,
    unreadSecret,
    connectionTo,
    podWith: (uid) => pods.find(({ metadata }) => metadata.uid === uid),
    heardAt: etcd.heardAt,
    hasAskedAll: etcd.hasAskedAll,
  };
}

/** The pods and PVCs of a cluster, and the memory that its status or its PVCs hold. */
interface Inventory extends Recalled {
  readonly read: ReadCluster;
  readonly replicaSets: Awaited<ReturnType<typeof replicaSetsOf>>;
}

async function observeInventory(
  asked: ReadCluster,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<Inventory> {
  const { read, pods, claims } = findPodsAndPvcs(asked, context);
  const replicaSets = await replicaSetsOf(read, context, signal);
  return { ...recallFromPvcs(read, { pods, claims }, replicaSets.legacyReplicaSets), read, replicaSets };
}

interface Gathered extends Inventory, TlsView, Pick<Observed, 'blueprint' | 'connectionTo'> {
  /** The Secrets of the operator that are no longer used. Read before members are asked: that may take long. */
  readonly obsolete: readonly string[];
}

interface EtcdView extends Pick<ClusterWorld, 'membership'>, Pick<Observed, 'heardAt' | 'hasAskedAll'> {
  /** The observed pods and members, with the time that each has been in its state. */
  readonly watched: ReturnType<Watched['see']>;
  /** Why etcd refuses the operator's user. */
  readonly authProblems: readonly string[];
}

async function observeEtcd(gathered: Gathered, context: ControllerContext, signal: AbortSignal): Promise<EtcdView> {
  const { read, memory, pods, claims, secrets, blueprint, connectionTo } = gathered;
  const memberPods = memberPodsOf({ pods, claims }, blueprint);
  const timeoutFor = (memberPod: MemberPod): number => answerTimeout(memberPod, read, context);
  const bootstrapMembers = memory.clusterId === undefined ? memory.bootstrap?.members.length : undefined;
  const asking = { locked: secrets.locked, bootstrapMembers, now: context.now(), connectionTo, timeoutFor };
  const settled = await lookAtSettled(memberPods, { ...asking, blueprint, context }, signal);
  const all = { blueprint, context, connectionTo };
  const observation = settled ?? (await withOldAlarms(observeMembers(memberPods, asking, signal), all));
  const heardAt = monotonicOf(context);
  const authProblems = refusedUser(observation.seen ? undefined : observation.refused, { ...read, ...secrets });
  const membership = withReason(authProblems, withStoppingMembers(observation, memberPods));
  const watched = withTimes({ memberPods, membership, memory }, { blueprint, context });
  return { membership, watched, authProblems, heardAt, hasAskedAll: settled === undefined };
}

async function worldOf(
  gathered: Gathered & EtcdView,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ClusterWorld> {
  const { read, memory, pods, claims, unused, secrets, blueprint, connectionTo, membership, authProblems } = gathered;
  const takenClaims = allClaimsOf(blueprint, context.caches).filter((claim) => !unused.includes(claim));
  const problems = [...secrets.problems, ...authProblems];
  return {
    now: context.now().getTime(),
    intent: blueprint.intent,
    memory,
    ...gathered.watched,
    startsWithoutSecrets: gathered.startsWithoutSecrets,
    clientMigration: clientMigrationOf({ ...read, memory }, { pods, claims }),
    ...(await classifySecretProblems({ ...secrets, problems, membership }, connectionTo, signal)),
    certificates: await certificatesOf(secrets, pods, context),
    obsoleteSecrets: gathered.obsolete,
    hasUsers: await hasUsers({ membership, intent: blueprint.intent }, connectionTo, signal),
    ...spareNames({ blueprint, memory }, namesOf(pods, takenClaims), context),
    retainedVolumes: gathered.retainedVolumes,
    foreignVolumes: gathered.foreignVolumes,
    ...observeVolumes(claims, blueprint, context),
    ...gathered.replicaSets,
  };
}

/** An unreachable API server blocks the upgrade to the next minor version, and no other step. */
export const preUpgradeBackupOrFailure: typeof observePreUpgradeBackup = (read, world, context) =>
  observePreUpgradeBackup(read, world, context).catch((thrown: unknown) => {
    const { kind, message } = Failure.from(thrown);
    if (kind === 'bug') throw thrown;
    return { name: `${read.blueprint.intent.name}-before-${nextMinor(world)}`, state: 'under-way', why: message };
  });

interface Watching {
  readonly blueprint: Blueprint;
  readonly context: Pick<ControllerContext, 'watched'>;
}

const withTimes = (seen: Parameters<Watched['see']>[1], { blueprint, context }: Watching): ReturnType<Watched['see']> =>
  context.watched?.see(keyOf(blueprint.intent), seen) ?? { memberPods: seen.memberPods, membership: seen.membership };

async function withOldAlarms(
  seeing: Promise<ClusterWorld['membership']>,
  { blueprint, context, connectionTo }: Watching & Pick<Observed, 'connectionTo'>,
): Promise<ClusterWorld['membership']> {
  const observation = await seeing;
  return (await context.watched?.oldAlarms.addTo(keyOf(blueprint.intent), observation, connectionTo)) ?? observation;
}

function findPodsAndPvcs(asked: ReadCluster, context: ControllerContext): PodsAndPvcs & { readonly read: ReadCluster } {
  const pods = podsOf(asked, context);
  const read = keepImageDigests(asked, pods);
  return { read, pods, claims: claimsOf(read.blueprint, context.caches) };
}

interface TlsView extends Pick<ClusterWorld, 'startsWithoutSecrets'> {
  readonly tlsModes: TlsModes;
  readonly secrets: Security;
  readonly unreadSecret: Observed['unreadSecret'];
}

/** Chooses the TLS modes of the next pods by the Secrets that can be used. */
async function observeTls(read: ReadCluster, podsAndPvcs: PodsAndPvcs, context: ControllerContext): Promise<TlsView> {
  const next = nextTlsModes(read, podsAndPvcs);
  const secrets = await observeSecurity(read, { tlsModes: next, pods: podsAndPvcs.pods }, context);
  // members do not use the operator's user
  const hasProblems = secrets.problems.some((problem) => problem !== secrets.userProblem);
  const lacksCertificates = hasProblems && secrets.template.memberSecret === undefined;
  const tlsModes = lacksCertificates ? tlsModesWithoutCertificates(next, podsAndPvcs, read.blueprint) : next;
  const unreadSecret = isPlain(tlsModes) ? undefined : secrets.unread;
  return {
    tlsModes,
    secrets,
    unreadSecret,
    ...(lacksCertificates ? { startsWithoutSecrets: isPlain(tlsModes) && !isPlain(next) } : {}),
  };
}

const isPlain = ({ peer, client }: TlsModes): boolean => peer === 'plain' && client === 'plain';

const namesOf = (pods: PodsAndPvcs['pods'], claims: PodsAndPvcs['claims']): readonly string[] => [
  ...pods.map(memberNameOf),
  ...claims.map(memberIn),
];

interface Asking {
  readonly locked: string | undefined;
  /** The number of bootstrap members; undefined once the cluster has formed. */
  readonly bootstrapMembers: number | undefined;
  readonly now: Date;
  readonly connectionTo: Observed['connectionTo'];
  /** How long to wait for an answer, in milliseconds. */
  readonly timeoutFor: (memberPod: MemberPod) => number;
}

async function observeMembers(
  memberPods: readonly MemberPod[],
  { locked, bootstrapMembers, now, connectionTo, timeoutFor }: Asking,
  signal: AbortSignal,
): Promise<ClusterWorld['membership']> {
  if (locked !== undefined) return { seen: false, why: locked };
  const asked = askedOf(memberPods, { connectionTo, timeoutFor }, signal);
  const isForming = bootstrapMembers !== undefined && !memberPods.some(({ ready }) => ready);
  return isForming ? probeBootstrapMembers(asked, bootstrapMembers, now) : readMembership(asked);
}

const askedOf = (
  memberPods: readonly MemberPod[],
  { connectionTo, timeoutFor }: Pick<Asking, 'connectionTo' | 'timeoutFor'>,
  signal: AbortSignal,
): readonly Asked[] =>
  memberPods.filter(mayAnswer).flatMap((memberPod): readonly Asked[] => {
    const connection = connectionTo(memberPod.name);
    const asking = { signal, timeoutMillis: timeoutFor(memberPod) };
    return connection === undefined ? [] : [{ name: memberPod.name, connection, asking }];
  });

/** The membership of a settled cluster, as one member confirms it. Undefined if all members must be asked. */
async function lookAtSettled(
  memberPods: readonly MemberPod[],
  {
    locked,
    blueprint,
    context,
    ...asking
  }: Asking & Pick<Watching, 'blueprint'> & { readonly context: ControllerContext },
  signal: AbortSignal,
): Promise<ClusterWorld['membership'] | undefined> {
  if (locked !== undefined) return undefined;
  return context.settled?.look(keyOf(blueprint.intent), memberPods, askedOf(memberPods, asking, signal));
}

/**
 * Bootstrap members do not answer before a majority of them is connected, and many clusters may form at once. So each
 * pass asks one member, in turn. All members are asked once that member answers.
 */
async function probeBootstrapMembers(
  asked: readonly Asked[],
  bootstrapMembers: number,
  now: Date,
): Promise<ClusterWorld['membership']> {
  const turn = Math.floor(now.getTime() / 500) % Math.max(asked.length, 1);
  const first = asked.length < quorumOf(bootstrapMembers) ? [] : asked.slice(turn, turn + 1);
  const answer = await readMembership(first);
  return answer.seen ? readMembership(asked) : answer;
}

const withReason = ([why]: readonly string[], observation: ClusterWorld['membership']): ClusterWorld['membership'] =>
  observation.seen || why === undefined ? observation : { ...observation, why };

/**
 * Forming members, unready members and stopping members may accept a request and never answer it. A short timeout keeps
 * the pass short; the next pass asks again. Connections from outside the cluster always get the long timeout.
 */
function answerTimeout({ phase, ready }: MemberPod, { memory }: ReadCluster, { dialerTo }: ControllerContext): number {
  if (dialerTo !== undefined) return 2_000;
  const isForming = memory.bootstrap !== undefined && memory.clusterId === undefined;
  return isForming || phase === 'stopping' || !ready ? 300 : 2_000;
}

const mayAnswer = ({ phase, hasRun }: MemberPod): boolean => hasRun && phase !== 'ended' && phase !== 'gone';
