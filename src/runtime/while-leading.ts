import type { KubeClient } from '../kube/client.ts';
import { Failure } from '../std/failure.ts';
import type { Leadership } from './lease.ts';

type Holds = Leadership['holds'] | undefined;

/** Fails once the lease is not surely ours. Without a lease there is nothing to ask. */
export function confirmLeading(holds: Holds): void {
  if (holds?.() === false) throw new Failure('conflict', 'this operator does not lead any more');
}

/**
 * A client that writes only while we lead. It asks before each write, and once more right before the request is sent. When the
 * process has stood still since something was planned, another operator may have done it by now, and something else after it.
 */
export function whileLeading(client: KubeClient, holds: Holds): KubeClient {
  if (holds === undefined) return client;
  const confirm = (): void => confirmLeading(holds);
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
