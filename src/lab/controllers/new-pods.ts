import { ApiFailure } from '../../kube/errors.ts';
import { type KubeObject, keyOf, type Pod, type Stored } from '../../kube/object.ts';
import { pods } from '../../kube/resource.ts';
import { Failure } from '../../std/failure.ts';
import type { Tools } from './controller.ts';

/** While the cache has not shown what was just made, the same must not be made again. */
export const settleSeconds = 0.2;

/** A pod that came and went while the cache was not watching is never shown. */
const longestMillis = 60_000;

export interface Making {
  readonly made: number;
  /** Why there are not more. */
  readonly refusal?: Failure;
}

/** Pods that a controller has made and that the cache has not shown yet. */
export class NewPods {
  readonly #tools: Pick<Tools, 'client' | 'clock' | 'recorder'>;
  readonly #unseen = new Map<string, { readonly owner: string; readonly since: number }>();

  constructor(tools: Pick<Tools, 'client' | 'clock' | 'recorder'>) {
    this.#tools = tools;
  }

  seen({ metadata }: Pod): void {
    this.#unseen.delete(keyOf(metadata));
  }

  areAwaited(owner: Stored<KubeObject>): boolean {
    const { uid } = owner.metadata;
    const oldest = this.#tools.clock.monotonic() - longestMillis;
    for (const [key, { since }] of this.#unseen) if (since < oldest) this.#unseen.delete(key);
    return [...this.#unseen.values()].some((each) => each.owner === uid);
  }

  /** Makes so many, each told in an Event. After the first that is refused no more are tried. */
  async make(count: number, owner: Stored<KubeObject>, next: () => Pod): Promise<Making> {
    let made = 0;
    for (; made < count; made++) {
      const refusal = await this.#makeOne(owner, next());
      if (refusal !== undefined) return { made, refusal };
    }
    return { made };
  }

  async #makeOne(owner: Stored<KubeObject>, pod: Pod): Promise<Failure | undefined> {
    const { client, clock, recorder } = this.#tools;
    const { name } = pod.metadata;
    const key = keyOf(pod.metadata);
    // Before it is there: the cache may show it sooner than the answer comes.
    this.#unseen.set(key, { owner: owner.metadata.uid, since: clock.monotonic() });
    try {
      await client.create(pods, pod);
    } catch (thrown) {
      this.#unseen.delete(key);
      const failure = Failure.from(thrown);
      recorder.record(owner, { type: 'Warning', reason: 'FailedCreate', message: complaint(failure, owner, name) });
      return failure;
    }
    recorder.record(owner, { type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${name}` });
    return undefined;
  }
}

/** Each try has another name, and must not become another Event for that. */
const complaint = (failure: Failure, { metadata }: KubeObject, name: string): string => {
  const says = failure instanceof ApiFailure ? (failure.says ?? failure.message) : failure.message;
  return `Error creating: ${says.replaceAll(name, `${metadata.name}-`)}`;
};
