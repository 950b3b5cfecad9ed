import {
  type Caches,
  type ClusterObject,
  clusterIndex,
  ownerIndex,
  type PeerShelf,
} from '../controllers/cluster/sources.ts';
import type { ClusterDialect } from '../dialects/dialect.ts';
import type { KubeClient } from '../kube/client.ts';
import type { KubeObject } from '../kube/object.ts';
import { persistentVolumeClaims, podDisruptionBudgets, pods, type Resource, services } from '../kube/resource.ts';
import type { Clock } from '../runtime/clock.ts';
import { Reflector, type ReflectorOptions } from '../runtime/reflector.ts';
import { byLabel, byOwner } from '../runtime/store.ts';
import type { Failure } from '../std/failure.ts';

export interface CachesOptions {
  readonly client: KubeClient;
  readonly clusters: Resource<ClusterObject>;
  /** Without it, all namespaces. */
  readonly namespace: string | undefined;
  readonly peers: Resource<ClusterObject> | undefined;
  readonly dialect: Pick<ClusterDialect, 'selector' | 'clusterLabel' | 'peers'>;
  readonly withBudgets: boolean;
  readonly clock: Clock;
  readonly onTrouble: (failure: Failure) => void;
  readonly onRestart?: ReflectorOptions<KubeObject>['onRestart'];
}

/** The copies that the operator keeps, and what keeps them up to date. */
export function makeCaches(options: CachesOptions): {
  readonly caches: Caches;
  readonly peers: PeerShelf | undefined;
  /** Keeps the copy of clusters. */
  readonly declared: Reflector<ClusterObject>;
  readonly reflectors: readonly Reflector<never>[];
} {
  const { selector } = options.dialect;
  const reflectors: Reflector<never>[] = [];
  const copy = <T extends KubeObject>(resource: Resource<T>, labelSelector?: string): Reflector<T> => {
    const reflector = reflectorOf(resource, labelSelector, options);
    reflectors.push(reflector as unknown as Reflector<never>);
    return reflector;
  };
  const declared = copy(options.clusters);
  const caches: Caches = {
    clusters: declared.store,
    pods: copy(pods, selector).store,
    claims: copy(persistentVolumeClaims, selector).store,
    services: copy(services, selector).store,
    budgets: options.withBudgets ? copy(podDisruptionBudgets, selector).store : undefined,
  };
  const { oldFinalizer = '' } = options.dialect.peers ?? {};
  const peers = options.peers && { resource: options.peers, store: copy(options.peers).store, oldFinalizer };
  return { caches, peers, declared, reflectors };
}

function reflectorOf<T extends KubeObject>(
  resource: Resource<T>,
  labelSelector: string | undefined,
  { client, namespace, clock, onTrouble, onRestart, dialect: { clusterLabel } }: CachesOptions,
): Reflector<T> {
  const indexes = {
    [ownerIndex]: byOwner,
    [clusterIndex]: byLabel(clusterLabel),
  };
  return new Reflector<T>({ client, resource, namespace, clock, onTrouble, onRestart, labelSelector, indexes });
}
