import type { KubeClient } from '../src/kube/client.ts';
import type { KubeObject, Stored } from '../src/kube/object.ts';
import {
  endpointSlices,
  leases,
  nodes,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  type Resource,
  services,
} from '../src/kube/resource.ts';
import type { Clock } from '../src/runtime/clock.ts';
import { Reflector } from '../src/runtime/reflector.ts';
import { byOwner } from '../src/runtime/store.ts';
import type { Failure } from '../src/std/failure.ts';
import { deployments, jobs, persistentVolumes, replicaSets } from './kinds.ts';
import { leaseNamespace } from './kubelet/heartbeat.ts';

export interface CachesOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly onFailure: (failure: Failure) => void;
}

/** The index of objects by the UID of their owner. */
export const ownerIndex = 'owner';

/** The caches of API objects that the kubelets and the controllers share. */
export function labCaches({ client, clock, onFailure }: CachesOptions) {
  const of = <T extends KubeObject>(resource: Resource<T>, namespace?: string): Reflector<T> =>
    new Reflector<T>({ client, resource, clock, onFailure, namespace, trim, indexes: { [ownerIndex]: byOwner } });
  const reflectors = {
    pods: of(pods),
    nodes: of(nodes),
    services: of(services),
    slices: of(endpointSlices),
    claims: of(persistentVolumeClaims),
    volumes: of(persistentVolumes),
    budgets: of(podDisruptionBudgets),
    deployments: of(deployments),
    replicaSets: of(replicaSets),
    jobs: of(jobs),
    leases: of(leases, leaseNamespace),
  };
  type Stores = { readonly [Name in keyof typeof reflectors]: (typeof reflectors)[Name]['store'] };
  const stores = Object.fromEntries(
    Object.entries(reflectors).map(([name, reflector]) => [name, reflector.store]),
  ) as unknown as Stores;
  return { stores, reflectors: Object.values(reflectors) as unknown as readonly Reflector<never>[] };
}

export type LabStores = ReturnType<typeof labCaches>['stores'];

/** Drops managedFields: the lab does not read them, and they are often most of an object. */
function trim<T extends KubeObject>(object: Stored<T>): Stored<T> {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
