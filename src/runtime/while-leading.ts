import type { KubeClient } from '../kube/client.ts';
import { Failure } from '../std/failure.ts';
import type { Leadership } from './lease.ts';

type Writing = Pick<KubeClient, 'create' | 'patch' | 'remove'>;

/**
 * Writes only while we lead, and asks before each write. When the process has stood still since something was planned,
 * another operator may have done it by now, and something else after it. Without a lease there is nobody to ask.
 */
export function whileLeading(client: Writing, holds: Leadership['holds'] | undefined): Writing {
  const ask = (): void => {
    if (holds?.() === false) throw new Failure('conflict', 'this operator does not lead any more');
  };
  return {
    create: async (resource, object, options) => {
      ask();
      return client.create(resource, object, options);
    },
    patch: async (resource, at, patch) => {
      ask();
      return client.patch(resource, at, patch);
    },
    remove: async (resource, at, options) => {
      ask();
      return client.remove(resource, at, options);
    },
  };
}
