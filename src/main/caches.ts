import type { Caches, ClusterObject } from '../controllers/cluster/sources.ts';
import { ownerIndex } from '../controllers/cluster/sources.ts';
import type { KubeClient } from '../kube/client.ts';
import type { KubeObject, Stored } from '../kube/object.ts';
import { persistentVolumeClaims, podDisruptionBudgets, pods, type Resource, services } from '../kube/resource.ts';
import type { Clock } from '../runtime/clock.ts';
import { Reflector } from '../runtime/reflector.ts';
import { byOwner } from '../runtime/store.ts';
import type { Failure } from '../std/failure.ts';

export interface CachesOptions {
  readonly client: KubeClient;
  readonly clusters: Resource<ClusterObject>;
  /** Without it, all namespaces. */
  readonly namespace: string | undefined;
  /** Finds by its labels what is made for clusters. */
  readonly selector: string;
  readonly withBudgets: boolean;
  readonly clock: Clock;
  readonly onTrouble: (failure: Failure) => void;
}

/** The copies that the operator keeps, and what keeps them up to date. */
export function makeCaches(options: CachesOptions): {
  readonly caches: Caches;
  readonly reflectors: readonly Reflector<never>[];
} {
  const { client, namespace, selector, clock, onTrouble } = options;
  const reflector = <T extends KubeObject>(resource: Resource<T>, labelSelector?: string): Reflector<T> =>
    new Reflector<T>({
      client,
      resource,
      namespace,
      clock,
      onTrouble,
      labelSelector,
      indexes: { [ownerIndex]: byOwner },
      trim,
    });
  const all = {
    clusters: reflector(options.clusters),
    pods: reflector(pods, selector),
    claims: reflector(persistentVolumeClaims, selector),
    services: reflector(services, selector),
  };
  const budgets = options.withBudgets ? reflector(podDisruptionBudgets, selector) : undefined;
  const caches: Caches = {
    clusters: all.clusters.store,
    pods: all.pods.store,
    claims: all.claims.store,
    services: all.services.store,
    budgets: budgets?.store,
  };
  return {
    caches,
    reflectors: [
      ...Object.values(all),
      ...(budgets === undefined ? [] : [budgets]),
    ] as unknown as readonly Reflector<never>[],
  };
}

/** Who set which field is of no use here, and is often the larger part of an object. */
function trim<T extends KubeObject>(object: Stored<T>): Stored<T> {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
