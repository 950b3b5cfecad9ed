import type { ClusterDialect } from '../../apis/common/dialect.ts';
import { warningsOfScope } from '../../apis/common/warnings.ts';
import { type NameConflict, refusalBeside } from '../../controllers/cluster/ensure/name-conflicts.ts';
import { foreignPeerEvents } from '../../controllers/cluster/ensure/peers.ts';
import { Watched } from '../../controllers/cluster/observe/watched.ts';
import { clusterReconciler } from '../../controllers/cluster/reconcile.ts';
import type { RollTurns } from '../../controllers/cluster/roll-turns.ts';
import { SettledClusters } from '../../controllers/cluster/settled.ts';
import { SecretCache } from '../../controllers/cluster/tls/secret-cache.ts';
import type { Caches, ClusterObject, ControllerContext, PeerCache } from '../../controllers/shared/context.ts';
import { connectionsWhileLeading } from '../../controllers/shared/fenced-etcd.ts';
import type { EtcdConnections } from '../../etcd/connections.ts';
import type { OpenSession } from '../../etcd/session.ts';
import type { KubeClient } from '../../kube/client.ts';
import { type KubeObject, keyOf, type ObjectMeta } from '../../kube/object.ts';
import type { Clock } from '../../runtime/clock.ts';
import { Controller, type Loop } from '../../runtime/controller.ts';
import type { EventRecorder } from '../../runtime/events.ts';
import type { Outcome } from '../../runtime/outcome.ts';
import type { Reflector } from '../../runtime/reflector.ts';
import { type Change, isStatusOnly, type Store } from '../../runtime/store.ts';
import type { Failure } from '../../std/failure.ts';
import { connectionsOf } from '../kept-connections.ts';
import { randomName } from '../random-name.ts';
import { type Log, watchRestarts } from '../telemetry/log.ts';
import { makeCaches } from './caches.ts';
import { commonContext } from './common-context.ts';
import { clustersOf, peersOf } from './served.ts';

export interface ClusterParts {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** The namespace to serve; undefined for all. */
  readonly scope: string | undefined;
  readonly workers: number;
  /** True if this operator serves the cluster. */
  readonly isOurs: (metadata: ObjectMeta, dialect: ClusterDialect) => boolean;
  readonly identity: string;
  /** True if the operator may create PodDisruptionBudgets. */
  readonly withBudgets: boolean;
  /** True if the operator may write Secrets. */
  readonly mayWriteSecrets: boolean;
  readonly mayDeleteSecrets: boolean;
  readonly dialerTo: ControllerContext['dialerTo'];
  /** Opens the connections to members; by default over the network. */
  readonly openSession?: OpenSession | undefined;
  readonly leads: ControllerContext['leads'];
  /** Shared by the controllers of all APIs and namespaces. */
  readonly rollTurns: RollTurns;
  readonly log: Log;
  readonly onFailure: (failure: Failure) => void;
  readonly onOutcome: (key: string, outcome: Outcome, seconds: number) => void;
}

/** The controller of the clusters of one API. */
export interface ClusterController {
  readonly dialect: ClusterDialect;
  readonly clusters: Store<ClusterObject>;
  /** Resolves when the cache of clusters is complete. */
  readonly synced: Pick<Reflector<ClusterObject>, 'synced'>;
  /** The number of entries kept in memory, by purpose. */
  readonly remembered: () => Readonly<Record<string, number>>;
  /** Adds controllers of other APIs: a cluster name can be used by one API only. */
  readonly avoidNamesOf: (others: readonly ClusterController[]) => void;
  /** Runs until `signal` aborts. Work starts when the caches of all `present` controllers are complete. */
  readonly run: (present: readonly ClusterController[], signal: AbortSignal) => Promise<void>;
}

/** The controller of the clusters of one API. */
export function clusterController(dialect: ClusterDialect, parts: ClusterParts): ClusterController {
  const { scope, withBudgets, onFailure, clock } = parts;
  const onExpired = (key: string, what: string): void =>
    parts.log.warn({ cluster: key, what }, 'cache did not catch up in time');
  const controller = new Controller({ ...parts, eventSource: dialect.eventSource, onExpired });
  const { client, queue, memories, recorder } = controller;
  const { caches, peers, reflectors, declared } = makeCaches({
    client,
    clusters: clustersOf(dialect),
    peers: peersOf(dialect),
    dialect,
    namespace: scope,
    withBudgets,
    clock,
    onFailure,
    onRestart: watchRestarts(parts.log),
  });
  const nameConflicts: NameConflict[] = [];
  const secrets = memories.add('secrets', new SecretCache(clock));
  enqueueChanges({ ...caches, peers }, { controller, dialect, secrets });
  const run: ClusterController['run'] = async (present, signal) => {
    using etcd = connectionsWhileLeading(parts.leads, { clock, open: parts.openSession });
    if (peers !== undefined) recordForeignPeers(peers, recorder);
    const context = contextOf({ controller, caches, peers, etcd, dialect, nameConflicts, secrets }, parts);
    const otherCaches = present.map(({ synced }) => synced);
    await controller.run({ caches: reflectors, otherCaches, ...passesOf(context) }, signal);
  };
  const avoidNamesOf: ClusterController['avoidNamesOf'] = (others) => {
    for (const { dialect: other, clusters: store } of others) {
      nameConflicts.push({ group: other.group, store });
      store.onChange(({ type, object }) => type === 'deleted' && queue.wake(keyOf(object.metadata)));
    }
  };
  return { dialect, clusters: caches.clusters, synced: declared, remembered: controller.remembered, avoidNamesOf, run };
}

/** Records an Event on each EtcdPeer that belongs to no cluster. */
function recordForeignPeers({ store }: PeerCache, recorder: EventRecorder): void {
  store.onChange(({ type, object }) => {
    if (type === 'added') for (const event of foreignPeerEvents(object)) recorder.record(object, event);
    if (type === 'deleted') recorder.forget(keyOf(object.metadata));
  });
}

const passesOf = (context: ControllerContext): Omit<Loop, 'caches' | 'otherCaches'> => ({
  reconcile: clusterReconciler(context),
  isOver: (key) => isOver(key, context),
  keptMemories: (key) => (isWarnedOfScope(key, context) ? ofEvents : []),
});

type ScopeContext = Pick<ControllerContext, 'caches' | 'isOurs' | 'dialect'>;

/** True if the cluster is deleted, is being deleted, or belongs to another operator. */
function isOver(key: string, { caches, isOurs }: ScopeContext): boolean {
  const { metadata } = caches.clusters.get(key) ?? {};
  return metadata === undefined || metadata.deletionTimestamp !== undefined || !isOurs(metadata);
}

/** The memories that limit Events. */
const ofEvents = ['events', 'warnings'];

/**
 * True if the cluster has an unknown scope. Every pass raises that warning, so the memories that limit Events are kept.
 */
function isWarnedOfScope(key: string, { caches, isOurs, dialect }: ScopeContext): boolean {
  const { metadata } = caches.clusters.get(key) ?? {};
  if (metadata === undefined || metadata.deletionTimestamp !== undefined || isOurs(metadata)) return false;
  return warningsOfScope(metadata.annotations, dialect.scopeAnnotation).length > 0;
}

interface ContextParts {
  readonly controller: Controller;
  readonly caches: Caches;
  readonly peers: PeerCache | undefined;
  readonly etcd: EtcdConnections;
  readonly dialect: ClusterDialect;
  readonly nameConflicts: readonly NameConflict[];
  readonly secrets: SecretCache;
}

function contextOf(made: ContextParts, parts: ClusterParts): ControllerContext {
  const { controller, caches, peers, etcd, dialect, nameConflicts, secrets } = made;
  const { client, memories } = controller;
  const { log, isOurs, dialerTo, leads, clock, mayWriteSecrets, mayDeleteSecrets, rollTurns } = parts;
  const stores = storesByPlural(caches, peers);
  const statusWrites = memories.map<number>('status-writes');
  memories.add('connections', connectionsOf(etcd));
  return {
    ...commonContext(controller, {
      clock,
      log,
      secrets,
      storeOf: ({ plural }) => stores[plural],
      onStatus: (key) => void statusWrites.set(key, clock.monotonic()),
    }),
    dialect,
    caches,
    peers,
    etcd,
    dialerTo,
    leads,
    randomName: (cluster) => randomName(cluster, clock.random),
    mayWriteSecrets,
    mayDeleteSecrets,
    absentSecrets: memories.map('absentSecrets'),
    monotonic: clock.monotonic,
    watched: memories.add('watched', new Watched(clock)),
    rollTurns: memories.add('roll-turns', rollTurns),
    wake: (key) => controller.queue.wake(key),
    settled: memories.add('settled', settledIn(made, clock)),
    resource: clustersOf(dialect),
    list: (resource, options) => client.list(resource, options),
    isOurs: (metadata) => isOurs(metadata, dialect),
    refusalOf: (object) => refusalBeside(object, nameConflicts),
    secondsSinceStatusWrite: (key) => (clock.monotonic() - (statusWrites.get(key) ?? Number.NEGATIVE_INFINITY)) / 1000,
  };
}

const settledIn = ({ caches, etcd }: ContextParts, clock: Clock): SettledClusters =>
  new SettledClusters({ clock, clusters: () => caches.clusters.size, rest: (key) => etcd.rest(key) });

const storesByPlural = (caches: Caches, peers: PeerCache | undefined) =>
  ({
    etcdclusters: caches.clusters,
    etcdpeers: peers?.store,
    pods: caches.pods,
    persistentvolumeclaims: caches.claims,
    services: caches.services,
    poddisruptionbudgets: caches.budgets,
  }) as Readonly<Record<string, Caches['clusters'] | undefined>>;

interface WatchedCaches extends Caches {
  readonly peers: PeerCache | undefined;
}

interface EnqueueOptions {
  readonly controller: Controller;
  readonly dialect: ClusterDialect;
  readonly secrets: SecretCache;
}

/** Enqueues a cluster when the cluster or one of its objects changes. */
function enqueueChanges(watched: WatchedCaches, { controller, dialect, secrets }: EnqueueOptions): void {
  const { clusters: declared, pods, claims, services, budgets, peers } = watched;
  const { queue } = controller;
  const part = (change: Change<KubeObject>): void => {
    const { metadata } = change.object;
    const isPeer = change.object.kind === peers?.resource.kind;
    for (const name of clustersBehind(metadata, dialect)) {
      const key = keyOf({ namespace: metadata.namespace, name });
      if (isPeer && isStatusOnly(change)) queue.add(key);
      else queue.wake(key);
    }
  };
  controller.enqueueChangesOf(declared, (key) => secrets.forget(key)); // the spec may name other Secrets
  pods.onChange(part);
  claims.onChange(part);
  services.onChange(part);
  budgets?.onChange(part);
  peers?.store.onChange(part);
}

/** The names of the clusters that own an object. For objects without owner, the cluster in the label. */
export function clustersBehind(metadata: ObjectMeta, dialect: ClusterDialect): readonly string[] {
  const { ownerReferences = [], labels = {} } = metadata;
  const { group, kind, clusterLabel } = dialect;
  const labelled = labels[clusterLabel];
  if (ownerReferences.length === 0 && labelled !== undefined) return [labelled];
  const owners = ownerReferences.filter((owner) => owner.kind === kind && owner.apiVersion.startsWith(`${group}/`));
  return owners.map(({ name }) => name);
}
