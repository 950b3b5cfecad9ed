import type { KubeClient } from '../../src/kube/client.ts';
import { ApiFailure } from '../../src/kube/errors.ts';
import type { Lease, Stored } from '../../src/kube/object.ts';
import { Failure } from '../../src/std/failure.ts';

type LeaseClient = Pick<KubeClient, 'get' | 'create' | 'update'>;

/** A server that keeps one lease and refuses what is out of date, as the real one does. */
export class FakeLeases {
  lease: Stored<Lease> | undefined;
  writes = 0;
  /** What happens to a request of that client: it arrives, it does not, or it does and the answer is lost. */
  readonly faults = new Map<string, 'cut off' | 'answer lost' | 'hangs'>();

  /** The server as seen by one of its clients. */
  clientOf(who: string): LeaseClient {
    const over = async (act: () => Stored<Lease>): Promise<never> => {
      const fault = this.faults.get(who);
      if (fault === 'hangs') return await new Promise<never>(() => {});
      if (fault === 'cut off') throw new Failure('unreachable', 'cut off');
      const answer = act();
      if (fault === 'answer lost') throw new Failure('unreachable', 'no answer');
      return structuredClone(answer) as never;
    };
    return {
      get: () => over(() => this.#current()),
      create: (_, object) => over(() => this.#create(object)),
      update: (_, object) => over(() => this.#update(object as unknown as Stored<Lease>)),
    };
  }

  #current(): Stored<Lease> {
    if (this.lease === undefined) throw new ApiFailure('not-found', 'no lease');
    return this.lease;
  }

  #create(lease: Lease): Stored<Lease> {
    if (this.lease !== undefined) throw new ApiFailure('conflict', 'exists', { reason: 'AlreadyExists' });
    return this.#write(lease);
  }

  #update(lease: Stored<Lease>): Stored<Lease> {
    if (this.#current().metadata.resourceVersion !== lease.metadata.resourceVersion)
      throw new ApiFailure('conflict', 'somebody wrote first', { reason: 'Conflict' });
    return this.#write(lease);
  }

  #write(lease: Lease): Stored<Lease> {
    const identity = { uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z', resourceVersion: String(++this.writes) };
    this.lease = structuredClone({ ...lease, metadata: { ...lease.metadata, ...identity } });
    return this.lease;
  }
}
