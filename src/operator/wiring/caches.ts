import type { ClusterDialect } from '../../apis/common/dialect.ts';
import {
  type Caches,
  type ClusterObject,
  clusterIndex,
  ownerIndex,
  type PeerCache,
} from '../../controllers/shared/context.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { KubeObject } from '../../kube/object.ts';
import { persistentVolumeClaims, podDisruptionBudgets, pods, type Resource, services } from '../../kube/resource.ts';
import type { Clock } from '../../runtime/clock.ts';
import { Reflector, type ReflectorOptions } from '../../runtime/reflector.ts';
import { byLabel, byOwner } from '../../runtime/store.ts';
import type { Failure } from '../../std/failure.ts';

export interface CachesOptions {
  readonly client: KubeClient;
  readonly clusters: Resource<ClusterObject>;
  /** Undefined for all namespaces. */
  readonly namespace: string | undefined;
  readonly peers: Resource<ClusterObject> | undefined;
  readonly dialect: Pick<ClusterDialect, 'selector' | 'clusterLabel' | 'peers'>;
  readonly withBudgets: boolean;
  readonly clock: Clock;
  readonly onFailure: (failure: Failure) => void;
  readonly onRestart?: ReflectorOptions<KubeObject>['onRestart'];
}

/** Creates the caches of a cluster controller and their reflectors. */
export function makeCaches(options: CachesOptions): {
  readonly caches: Caches;
  readonly peers: PeerCache | undefined;
  /** The reflector of clusters. */
  readonly declared: Reflector<ClusterObject>;
  readonly reflectors: readonly Reflector<never>[];
} {
  const { selector } = options.dialect;
  const reflectors: Reflector<never>[] = [];
  const cacheOf = <T extends KubeObject>(resource: Resource<T>, labelSelector?: string): Reflector<T> => {
    const reflector = reflectorOf(resource, labelSelector, options);
    reflectors.push(reflector as unknown as Reflector<never>);
    return reflector;
  };
  const declared = cacheOf(options.clusters);
  const caches: Caches = {
    clusters: declared.store,
    pods: cacheOf(pods, selector).store,
    claims: cacheOf(persistentVolumeClaims, selector).store,
    services: cacheOf(services, selector).store,
    budgets: options.withBudgets ? cacheOf(podDisruptionBudgets, selector).store : undefined,
  };
  const { oldFinalizer = '' } = options.dialect.peers ?? {};
  const peers = options.peers && { resource: options.peers, store: cacheOf(options.peers).store, oldFinalizer };
  return { caches, peers, declared, reflectors };
}

function reflectorOf<T extends KubeObject>(
  resource: Resource<T>,
  labelSelector: string | undefined,
  { client, namespace, clock, onFailure, onRestart, dialect: { clusterLabel } }: CachesOptions,
): Reflector<T> {
  const indexes = {
    [ownerIndex]: byOwner,
    [clusterIndex]: byLabel(clusterLabel),
  };
  return new Reflector<T>({ client, resource, namespace, clock, onFailure, onRestart, labelSelector, indexes });
}
