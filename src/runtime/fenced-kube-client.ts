import type { KubeClient } from '../kube/client.ts';
import { Failure } from '../std/failure.ts';
import type { Leadership } from './lease.ts';

type Holds = Leadership['holds'] | undefined;

/** Throws if this process may have lost the lease. Without leader election it never throws. */
export function assertLeading(holds: Holds): void {
  if (holds?.() === false) throw new Failure('conflict', 'this operator no longer holds the leader lease');
}

/**
 * A client that writes only while this process holds the lease. The lease is checked before each write, and once more
 * right before the request is sent. A process paused between planning and writing must not write: another leader may
 * act by then.
 */
export function fencedKubeClient(client: KubeClient, holds: Holds): KubeClient {
  if (holds === undefined) return client;
  const confirm = (): void => assertLeading(holds);
  return {
    get: (resource, at, options) => client.get(resource, at, options),
    list: (resource, options) => client.list(resource, options),
    pages: (resource, options) => client.pages(resource, options),
    watch: (resource, options) => client.watch(resource, options),
    review: (review, spec, options) => client.review(review, spec, options),
    read: (path, options) => client.read(path, options),
    create: async (resource, object, options) => {
      confirm();
      return client.create(resource, object, { ...options, confirm });
    },
    update: async (resource, object, options) => {
      confirm();
      return client.update(resource, object, { ...options, confirm });
    },
    patch: async (resource, at, patch) => {
      confirm();
      return client.patch(resource, at, { ...patch, confirm });
    },
    remove: async (resource, at, options) => {
      confirm();
      return client.remove(resource, at, { ...options, confirm });
    },
  };
}
