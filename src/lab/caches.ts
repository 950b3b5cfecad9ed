import type { KubeClient } from '../kube/client.ts';
import type { KubeObject, Stored } from '../kube/object.ts';
import {
  leases,
  nodes,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  type Resource,
  services,
} from '../kube/resource.ts';
import type { Clock } from '../runtime/clock.ts';
import { Reflector } from '../runtime/reflector.ts';
import { byOwner } from '../runtime/store.ts';
import type { Failure } from '../std/failure.ts';
import { deployments, endpointSlices, jobs, persistentVolumes, replicaSets } from './kinds.ts';
import { leaseNamespace } from './node/heartbeat.ts';

export interface CachesOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly onTrouble: (failure: Failure) => void;
}

/** The index of objects by the uid of their owner. */
export const ownerIndex = 'owner';

/** The copies of the API's objects that the node and the controllers share. */
export function labCaches({ client, clock, onTrouble }: CachesOptions) {
  const of = <T extends KubeObject>(resource: Resource<T>, namespace?: string): Reflector<T> =>
    new Reflector<T>({ client, resource, clock, onTrouble, namespace, trim, indexes: { [ownerIndex]: byOwner } });
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

/** Who set which field is of no use here, and is often the larger part of an object. */
function trim<T extends KubeObject>(object: Stored<T>): Stored<T> {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
