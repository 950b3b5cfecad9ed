import { randomInt } from 'node:crypto';
import { clusterReconciler } from '../controllers/cluster/reconcile.ts';
import type { Caches, ClusterObject, Tools } from '../controllers/cluster/sources.ts';
import { writerFor } from '../controllers/cluster/writer.ts';
import { coreos } from '../dialects/coreos-v1beta2/dialect.ts';
import { EtcdConnections } from '../etcd/connections.ts';
import type { KubeClient } from '../kube/client.ts';
import { type KubeObject, keyOf, type ObjectMeta } from '../kube/object.ts';
import { namespaced, type Resource } from '../kube/resource.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { EventRecorder } from '../runtime/events.ts';
import { Expectations } from '../runtime/expectations.ts';
import { type Runnable, runTogether } from '../runtime/manager.ts';
import type { Outcome } from '../runtime/outcome.ts';
import { whenSynced } from '../runtime/reflector.ts';
import { WorkQueue } from '../runtime/work-queue.ts';
import { workers } from '../runtime/worker.ts';
import type { Failure } from '../std/failure.ts';
import { makeCaches } from './caches.ts';
import type { Log } from './log.ts';
import { tellOnce } from './tell-once.ts';

const clusters: Resource<ClusterObject> = namespaced({
  group: coreos.group,
  version: coreos.version,
  plural: coreos.plural,
  kind: coreos.kind,
});

export interface Parts {
  readonly client: KubeClient;
  /** The one namespace to look after; without it, all. */
  readonly scope: string | undefined;
  readonly workers: number;
  /** Whether a cluster is for this operator to look after. */
  readonly isOurs: (metadata: ObjectMeta) => boolean;
  readonly identity: string;
  /** Whether we may make PodDisruptionBudgets. */
  readonly withBudgets: boolean;
  /** Whether we may keep Secrets of our own. */
  readonly keepsSecrets: boolean;
  readonly wayTo: Tools['wayTo'];
  readonly log: Log;
  readonly onTrouble: (failure: Failure) => void;
  /** Shown the clusters that there are, once there is a copy of them. */
  readonly onCache: (declared: Caches['clusters']) => void;
  readonly onOutcome: (key: string, outcome: Outcome, seconds: number) => void;
}

/** What runs while this replica leads: caches, and workers on a queue of clusters. */
export const clusterController =
  (parts: Parts): Runnable =>
  async (signal) => {
    const { client, scope, identity, withBudgets, onTrouble } = parts;
    const { caches, reflectors } = makeCaches({
      ...{ client, clusters, namespace: scope, selector: coreos.selector, withBudgets, clock, onTrouble },
    });
    const recorder = new EventRecorder({ client, clock, component: identity, instance: identity, onTrouble });
    const queue = new WorkQueue<string>(clock);
    using etcd = new EtcdConnections();
    const reconcile = clusterReconciler(toolsOf(parts, { caches, recorder, etcd }));
    enqueueChanges(caches, queue);
    parts.onCache(caches.clusters);
    const working = workers({ queue, reconcile, count: parts.workers, clock, onOutcome: parts.onOutcome });
    const afterSync: Runnable = async (stop) => {
      if (await whenSynced(reflectors, stop)) await working(stop);
    };
    await runTogether(
      [
        ...reflectors.map(
          (each): Runnable =>
            (stop) =>
              each.run(stop),
        ),
        afterSync,
      ],
      signal,
    );
    await recorder.flush(AbortSignal.timeout(2_000));
  };

interface Made {
  readonly caches: Caches;
  readonly recorder: EventRecorder;
  readonly etcd: EtcdConnections;
}

function toolsOf({ client, log, isOurs, wayTo, keepsSecrets }: Parts, { caches, recorder, etcd }: Made): Tools {
  const expectations = new Expectations({
    clock,
    onExpired: (key, what) => log.warn({ cluster: key, what }, 'a cache is late'),
  });
  const stores = storesByPlural(caches);
  const storeOf = (resource: Resource<KubeObject>) => stores[resource.plural];
  const told = new Map<string, number>();
  return {
    dialect: coreos,
    resource: clusters,
    isOurs,
    client,
    writer: (key) =>
      writerFor(key, { client, expectations, storeOf, onStatus: () => told.set(key, clock.monotonic()) }),
    toldAgo: (key) => (clock.monotonic() - (told.get(key) ?? Number.NEGATIVE_INFINITY)) / 1000,
    caughtUp: (key) => expectations.caughtUp(key),
    caches,
    etcd,
    keepsSecrets,
    wayTo,
    now: clock.now,
    randomName,
    tell: tellOnce((about, news) => recorder.record(about, news), clock),
    log: (level, message, fields) => log[level](fields, message),
  };
}

const storesByPlural = (caches: Caches) =>
  ({
    etcdclusters: caches.clusters,
    pods: caches.pods,
    persistentvolumeclaims: caches.claims,
    services: caches.services,
    poddisruptionbudgets: caches.budgets,
  }) as Readonly<Record<string, Caches['clusters'] | undefined>>;

/** Whatever happens to a cluster, or to something that it owns, has the cluster looked at. */
function enqueueChanges(
  { clusters: declared, pods, claims, services, budgets }: Caches,
  queue: WorkQueue<string>,
): void {
  const owned = ({ object: { metadata } }: { readonly object: KubeObject }): void => {
    const owners = (metadata.ownerReferences ?? []).filter(({ kind }) => kind === coreos.kind);
    for (const { name } of owners) queue.add(keyOf({ namespace: metadata.namespace, name }));
  };
  declared.onChange(({ object }) => queue.add(keyOf(object.metadata)));
  pods.onChange(owned);
  claims.onChange(owned);
  services.onChange(owned);
  budgets?.onChange(owned);
}

/** Kubernetes' own alphabet for random names: no vowels, and nothing that looks like something else. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const randomName = (cluster: string): string =>
  `${cluster.slice(0, 52)}-${Array.from({ length: 10 }, () => alphabet[randomInt(alphabet.length)]).join('')}`;
