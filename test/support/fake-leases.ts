import type { KubeClient } from '../../src/kube/client.ts';
import { ApiFailure } from '../../src/kube/errors.ts';
import type { Lease, Stored } from '../../src/kube/object.ts';
import { Failure } from '../../src/std/failure.ts';

type LeaseClient = Pick<KubeClient, 'get' | 'create' | 'update'>;

/** An API server with one Lease and optimistic locking. */
export class FakeLeases {
  lease: Stored<Lease> | undefined;
  writes = 0;
  /** Faults by client: the request is lost, its answer is lost, or it hangs. */
  readonly faults = new Map<string, 'cut off' | 'answer lost' | 'hangs'>();

  /** The time that an answer to a write takes. */
  answersAfter = async (): Promise<void> => {};

  /** The API of one client. */
  clientOf(name: string): LeaseClient {
    const withFault = async (act: () => Stored<Lease>): Promise<never> => {
      const fault = this.faults.get(name);
      if (fault === 'hangs') return await new Promise<never>(() => {});
      if (fault === 'cut off') throw new Failure('unreachable', 'cut off');
      const answer = act();
      if (fault === 'answer lost') throw new Failure('unreachable', 'no answer');
      return structuredClone(answer) as never;
    };
    return {
      get: () => withFault(() => this.#current()),
      create: (_, object) => this.#slowly(withFault(() => this.#create(object))),
      update: (_, object) => this.#slowly(withFault(() => this.#update(object as unknown as Stored<Lease>))),
    };
  }

  async #slowly<T>(answer: Promise<T>): Promise<T> {
    const answered = await answer;
    await this.answersAfter();
    return answered;
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
      throw new ApiFailure('conflict', 'the resourceVersion is outdated', { reason: 'Conflict' });
    return this.#write(lease);
  }

  #write(lease: Lease): Stored<Lease> {
    const identity = { uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z', resourceVersion: String(++this.writes) };
    this.lease = structuredClone({ ...lease, metadata: { ...lease.metadata, ...identity } });
    return this.lease;
  }
}
