import { connectionsWhileLeading } from '../controllers/cluster/fenced-etcd.ts';
import { toldOfForeign } from '../controllers/cluster/peers.ts';
import { clusterReconciler } from '../controllers/cluster/reconcile.ts';
import { RememberedSecrets } from '../controllers/cluster/remembered-secrets.ts';
import { type Rival, refusalBeside } from '../controllers/cluster/rivals.ts';
import type { Caches, ClusterObject, PeerShelf, Tools } from '../controllers/cluster/sources.ts';
import { Watched } from '../controllers/cluster/watched.ts';
import { writerFor } from '../controllers/cluster/writer.ts';
import type { ClusterDialect } from '../dialects/dialect.ts';
import { warningsOfScope } from '../dialects/warnings.ts';
import type { EtcdConnections } from '../etcd/connections.ts';
import type { KubeClient } from '../kube/client.ts';
import { type KubeObject, keyOf, type ObjectMeta } from '../kube/object.ts';
import type { Resource } from '../kube/resource.ts';
import type { Clock } from '../runtime/clock.ts';
import { EventRecorder } from '../runtime/events.ts';
import { Expectations } from '../runtime/expectations.ts';
import { type Runnable, runTogether } from '../runtime/manager.ts';
import { forgetting, Memories } from '../runtime/memories.ts';
import type { Outcome } from '../runtime/outcome.ts';
import { type Reflector, whenSynced } from '../runtime/reflector.ts';
import { type Change, isStatusAlone, type Store } from '../runtime/store.ts';
import { whileLeading } from '../runtime/while-leading.ts';
import { WorkQueue } from '../runtime/work-queue.ts';
import { workers } from '../runtime/worker.ts';
import type { Failure } from '../std/failure.ts';
import { makeCaches } from './caches.ts';
import { connectionsOf } from './kept-connections.ts';
import { type Log, watchRestarts } from './log.ts';
import { randomName } from './random-name.ts';
import { clustersOf, peersOf } from './served.ts';
import { tellOnce } from './tell-once.ts';

export interface ControllerParts {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** The one namespace to look after; without it, all. */
  readonly scope: string | undefined;
  readonly workers: number;
  /** Whether a cluster of an API is for this operator to look after. */
  readonly isOurs: (metadata: ObjectMeta, dialect: ClusterDialect) => boolean;
  readonly identity: string;
  /** Whether we may make PodDisruptionBudgets. */
  readonly withBudgets: boolean;
  /** Whether we may keep Secrets of our own. */
  readonly keepsSecrets: boolean;
  readonly dropsSecrets: boolean;
  readonly wayTo: Tools['wayTo'];
  readonly leads: Tools['leads'];
  readonly log: Log;
  readonly onTrouble: (failure: Failure) => void;
  readonly onOutcome: (key: string, outcome: Outcome, seconds: number) => void;
}

/** Looks after the clusters of one API. */
export interface Controller {
  readonly dialect: ClusterDialect;
  readonly clusters: Store<ClusterObject>;
  /** Kept when all its clusters are known. */
  readonly synced: Pick<Reflector<ClusterObject>, 'synced'>;
  /** How much is kept in memory of its clusters, by what it is kept for. */
  readonly remembered: () => Readonly<Record<string, number>>;
  /** Clusters of these take names away from ours. */
  readonly heed: (others: readonly Controller[]) => void;
  /** Runs until told to stop, and begins to work when the clusters of all these are known. */
  readonly run: (present: readonly Controller[], signal: AbortSignal) => Promise<void>;
}

/** Caches, and workers on a queue of clusters. */
export function clusterController(dialect: ClusterDialect, parts: ControllerParts): Controller {
  const { scope, withBudgets, onTrouble, clock } = parts;
  const client = whileLeading(parts.client, parts.leads);
  const { caches, peers, reflectors, declared } = makeCaches({
    ...{ client, clusters: clustersOf(dialect), peers: peersOf(dialect), dialect, namespace: scope },
    ...{ withBudgets, clock, onTrouble, onRestart: watchRestarts(parts.log) },
  });
  const queue = new WorkQueue<string>(clock);
  const rivals: Rival[] = [];
  const memories = new Memories();
  const secrets = memories.add('secrets', new RememberedSecrets(clock));
  enqueueChanges({ ...caches, peers }, { queue, dialect, secrets });
  const run: Controller['run'] = async (present, signal) => {
    const speaker = { component: dialect.speaker ?? parts.identity, instance: parts.identity };
    const recorder = memories.add('events', new EventRecorder({ client, clock, onTrouble, ...speaker }));
    using etcd = connectionsWhileLeading(parts.leads);
    if (peers !== undefined) tellForeign(peers, recorder);
    const made = { caches, peers, recorder, etcd, dialect, rivals, memories, secrets };
    const tools = toolsOf(made, { ...parts, client });
    const forget = (key: string): void => memories.forget(key, isWarnedOfScope(key, tools) ? ofEvents : []);
    const reconcile = forgetting(clusterReconciler(tools), { forget }, (key) => isOver(key, tools));
    const { workers: count, onOutcome } = parts;
    const working = workers({ queue, reconcile, count, clock, isFair: true, onOutcome });
    const afterSync: Runnable = async (stop) => {
      if (await whenSynced([...reflectors, ...present.map(({ synced }) => synced)], stop)) await working(stop);
    };
    await runTogether([...reflectors.map(running), afterSync], signal);
    await recorder.flush(AbortSignal.timeout(2_000));
  };
  const heed: Controller['heed'] = (others) => {
    for (const { dialect: other, clusters: store } of others) {
      rivals.push({ group: other.group, store });
      store.onChange(({ type, object }) => type === 'deleted' && queue.wake(keyOf(object.metadata)));
    }
  };
  const remembered: Controller['remembered'] = () => ({ queue: queue.remembered, ...memories.sizes() });
  return { dialect, clusters: caches.clusters, synced: declared, remembered, heed, run };
}

/** EtcdPeers that belong to no cluster are told of by Events of their own. */
function tellForeign({ store }: PeerShelf, recorder: EventRecorder): void {
  store.onChange(({ type, object }) => {
    if (type === 'added') for (const told of toldOfForeign(object)) recorder.record(object, told);
    if (type === 'deleted') recorder.forget(keyOf(object.metadata));
  });
}

type Judging = Pick<Tools, 'caches' | 'isOurs' | 'dialect'>;

/** It was or is being deleted, or belongs to another operator. */
function isOver(key: string, { caches, isOurs }: Judging): boolean {
  const { metadata } = caches.clusters.get(key) ?? {};
  return metadata === undefined || metadata.deletionTimestamp !== undefined || !isOurs(metadata);
}

/** What limits Events. */
const ofEvents = ['events', 'warnings'];

/** Every pass over a cluster with an unknown scope tells so in an Event, which is written once and is limited. */
function isWarnedOfScope(key: string, { caches, isOurs, dialect }: Judging): boolean {
  const { metadata } = caches.clusters.get(key) ?? {};
  if (metadata === undefined || metadata.deletionTimestamp !== undefined || isOurs(metadata)) return false;
  return warningsOfScope(metadata.annotations, dialect.scopeAnnotation).length > 0;
}

const running =
  (reflector: Pick<Reflector<never>, 'run'>): Runnable =>
  (stop) =>
    reflector.run(stop);

interface Made {
  readonly caches: Caches;
  readonly peers: PeerShelf | undefined;
  readonly recorder: EventRecorder;
  readonly etcd: EtcdConnections;
  readonly dialect: ClusterDialect;
  readonly rivals: readonly Rival[];
  readonly memories: Memories;
  readonly secrets: RememberedSecrets;
}

function toolsOf(made: Made, parts: ControllerParts): Tools {
  const { caches, peers, recorder, etcd, dialect, rivals, memories, secrets } = made;
  const { client, log, isOurs, wayTo, leads, clock, keepsSecrets, dropsSecrets } = parts;
  const onExpired = (key: string, what: string): void => log.warn({ cluster: key, what }, 'a cache is late');
  const expectations = memories.add('expectations', new Expectations({ clock, onExpired }));
  const stores = storesByPlural(caches, peers);
  const storeOf = (resource: Resource<KubeObject>) => stores[resource.plural];
  const told = memories.map<number>('told');
  memories.add('connections', connectionsOf(etcd));
  return {
    ...{ dialect, client, caches, peers, etcd, secrets, keepsSecrets, dropsSecrets, wayTo, leads, randomName },
    ...{ tidied: memories.map('tidied'), watched: memories.add('watched', new Watched(clock)) },
    resource: clustersOf(dialect),
    list: (resource, options) => client.list(resource, options),
    isOurs: (metadata) => isOurs(metadata, dialect),
    refusalOf: (object) => refusalBeside(object, rivals),
    writer: (key) =>
      writerFor(key, {
        ...{ client, expectations, storeOf, onSecret: () => secrets.forget(key) },
        onStatus: () => told.set(key, clock.monotonic()),
      }),
    toldAgo: (key) => (clock.monotonic() - (told.get(key) ?? Number.NEGATIVE_INFINITY)) / 1000,
    caughtUp: (key) => expectations.caughtUp(key),
    now: clock.now,
    tell: tellOnce((about, news) => recorder.record(about, news), clock, memories),
    log: (level, message, fields) => log[level](fields, message),
  };
}

const storesByPlural = (caches: Caches, peers: PeerShelf | undefined) =>
  ({
    etcdclusters: caches.clusters,
    etcdpeers: peers?.store,
    pods: caches.pods,
    persistentvolumeclaims: caches.claims,
    services: caches.services,
    poddisruptionbudgets: caches.budgets,
  }) as Readonly<Record<string, Caches['clusters'] | undefined>>;

interface Watching extends Caches {
  readonly peers: PeerShelf | undefined;
}

interface Heard {
  readonly queue: WorkQueue<string>;
  readonly dialect: ClusterDialect;
  readonly secrets: RememberedSecrets;
}

/**
 * Whatever happens to a cluster, or to something that is a part of it, has the cluster looked at. A new status alone begins no
 * wait anew: it is mostly the operator's own.
 */
function enqueueChanges(watched: Watching, { queue, dialect, secrets }: Heard): void {
  const { clusters: declared, pods, claims, services, budgets, peers } = watched;
  const part = (change: Change<KubeObject>): void => {
    const { metadata } = change.object;
    const isPeer = change.object.kind === peers?.resource.kind;
    for (const name of clustersBehind(metadata, dialect)) {
      const key = keyOf({ namespace: metadata.namespace, name });
      if (isPeer && isStatusAlone(change)) queue.add(key);
      else queue.wake(key);
    }
  };
  declared.onChange((change) => {
    const key = keyOf(change.object.metadata);
    if (isStatusAlone(change)) return queue.add(key);
    secrets.forget(key); // the spec may name others, or ask for new ones
    queue.wake(key);
  });
  pods.onChange(part);
  claims.onChange(part);
  services.onChange(part);
  budgets?.onChange(part);
  peers?.store.onChange(part);
}

/** Who owns it, among the clusters of one API; of what nobody owns, whom its label names. */
export function clustersBehind(metadata: ObjectMeta, dialect: ClusterDialect): readonly string[] {
  const { ownerReferences = [], labels = {} } = metadata;
  const { group, kind, clusterLabel } = dialect;
  const labelled = labels[clusterLabel];
  if (ownerReferences.length === 0 && labelled !== undefined) return [labelled];
  const owners = ownerReferences.filter((owner) => owner.kind === kind && owner.apiVersion.startsWith(`${group}/`));
  return owners.map(({ name }) => name);
}
