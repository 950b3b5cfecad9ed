import { ApiFailure } from '../../src/kube/errors.ts';
import { type KubeObject, keyOf, type Pod, type Stored } from '../../src/kube/object.ts';
import { pods } from '../../src/kube/resource.ts';
import { Failure } from '../../src/std/failure.ts';
import type { ControllerContext } from './controller.ts';

/** The wait for the cache to show new pods. Until then no more are created. */
export const cacheWaitSeconds = 0.2;

/** The longest wait. A pod that was created and deleted while the watch was interrupted never appears. */
const maxWaitMillis = 60_000;

export interface Creation {
  readonly created: number;
  /** Why fewer pods were created than requested. */
  readonly failure?: Failure;
}

/** Pods that a controller has created and that are not in the cache yet. */
export class NewPods {
  readonly #context: Pick<ControllerContext, 'client' | 'clock' | 'recorder'>;
  readonly #unseen = new Map<string, { readonly owner: string; readonly since: number }>();

  constructor(context: Pick<ControllerContext, 'client' | 'clock' | 'recorder'>) {
    this.#context = context;
  }

  markSeen({ metadata }: Pod): void {
    this.#unseen.delete(keyOf(metadata));
  }

  areUnseen(owner: Stored<KubeObject>): boolean {
    const { uid } = owner.metadata;
    const oldest = this.#context.clock.monotonic() - maxWaitMillis;
    for (const [key, { since }] of this.#unseen) if (since < oldest) this.#unseen.delete(key);
    return [...this.#unseen.values()].some((each) => each.owner === uid);
  }

  /** Creates a number of pods and records an Event for each. Stops at the first failure. */
  async create(count: number, owner: Stored<KubeObject>, next: () => Pod): Promise<Creation> {
    let created = 0;
    for (; created < count; created++) {
      const failure = await this.#createOne(owner, next());
      if (failure !== undefined) return { created, failure };
    }
    return { created };
  }

  async #createOne(owner: Stored<KubeObject>, pod: Pod): Promise<Failure | undefined> {
    const { client, clock, recorder } = this.#context;
    const { name } = pod.metadata;
    const key = keyOf(pod.metadata);
    // Before the request: the cache may show the pod before the response arrives.
    this.#unseen.set(key, { owner: owner.metadata.uid, since: clock.monotonic() });
    try {
      await client.create(pods, pod);
    } catch (thrown) {
      this.#unseen.delete(key);
      const failure = Failure.from(thrown);
      recorder.record(owner, {
        type: 'Warning',
        reason: 'FailedCreate',
        message: failureMessage(failure, owner, name),
      });
      return failure;
    }
    recorder.record(owner, { type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${name}` });
    return undefined;
  }
}

/** Replaces the pod's random name, so that repeated failures become one Event. */
const failureMessage = (failure: Failure, { metadata }: KubeObject, name: string): string => {
  const message = failure instanceof ApiFailure ? (failure.serverMessage ?? failure.message) : failure.message;
  return `Error creating: ${message.replaceAll(name, `${metadata.name}-`)}`;
};
