import type { ObjectRef, RestoreIntent, RestorePhase, RestoreWorld } from '../../core/restore/model.ts';
import type { RestoreVerdict } from '../../core/restore/step.ts';
import { keyOf, type NamespacedName } from '../../kube/object.ts';
import { pods } from '../../kube/resource.ts';
import type { Clock } from '../../runtime/clock.ts';
import { unless } from '../../std/failure.ts';
import type { RestoreContext } from './context.ts';
import type { ObservedRestore } from './observe.ts';
import type { Target } from './target.ts';

/** How long the result of a full pass is valid while the awaited objects are unchanged. */
const fullPassMillis = 2_000;

interface Awaited {
  readonly at: number;
  readonly phase: RestorePhase;
  readonly cluster: NamespacedName & { readonly resourceVersion: string };
  /** Terminating Pods. */
  readonly pods: readonly (NamespacedName & { readonly uid: string })[];
}

/**
 * Remembers the few objects that a waiting restore depends on: terminating Pods of old members, and the EtcdCluster
 * that is to acknowledge the hold or to reach its size. These objects are read often, in place of all Pods and PVCs of
 * the namespace.
 */
export class AwaitedObjects {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #awaited = new Map<string, Awaited>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#awaited.size;
  }

  forget(key: string): void {
    this.#awaited.delete(key);
  }

  /** Records the objects that a full pass waits for. */
  record(verdict: RestoreVerdict, { world, target }: Pick<ObservedRestore, 'world' | 'target'>): void {
    const key = keyOf(world.intent);
    const awaited = verdict.is === 'wait' ? awaitedIn(world, target?.object) : undefined;
    if (awaited === undefined) this.#awaited.delete(key);
    else this.#awaited.set(key, { at: this.#clock.monotonic(), ...awaited });
  }

  /** True if the awaited objects are unchanged, so that no full pass is needed. */
  async isUnchanged(of: RestoreIntent, phase: RestorePhase, context: ReadContext): Promise<boolean> {
    const awaited = this.#awaited.get(keyOf(of));
    if (awaited?.phase !== phase || this.#clock.monotonic() - awaited.at >= fullPassMillis) return false;
    const same = [isSameCluster(awaited, context), ...awaited.pods.map((pod) => isStillThere(pod, context))];
    return (await Promise.all(same)).every(Boolean);
  }
}

type ReadContext = Pick<RestoreContext, 'client' | 'clusters'>;

function awaitedIn(world: RestoreWorld, object: Target['object']): Omit<Awaited, 'at'> | undefined {
  const leaving = podsAwaitedIn(world);
  if (object === undefined || leaving === undefined) return undefined;
  const { namespace } = world.intent;
  const { name, resourceVersion } = object.metadata;
  return {
    phase: world.memory.phase,
    cluster: { namespace, name, resourceVersion },
    pods: leaving.map((pod) => ({ namespace, name: pod.name, uid: pod.uid })),
  };
}

/** The Pods that are awaited beside the EtcdCluster; undefined if the restore waits for other objects. */
function podsAwaitedIn({ intent, memory: { phase }, cluster }: RestoreWorld): readonly ObjectRef[] | undefined {
  if (typeof cluster === 'string') return undefined;
  if (phase === 'growing') return [];
  if (phase !== 'switching') return undefined;
  if (cluster.heldBy !== intent.uid) return [];
  const leaving = cluster.oldPods.filter(({ isTerminating }) => isTerminating === true);
  return leaving.length === 0 ? undefined : leaving;
}

async function isSameCluster(
  { cluster: { namespace, name, resourceVersion } }: Pick<Awaited, 'cluster'>,
  { client, clusters }: ReadContext,
): Promise<boolean> {
  const found = await unless('not-found', client.get(clusters.resource, { namespace, name }), undefined);
  return found?.metadata.resourceVersion === resourceVersion;
}

async function isStillThere(
  { namespace, name, uid }: Awaited['pods'][number],
  { client }: Pick<ReadContext, 'client'>,
): Promise<boolean> {
  const found = await unless('not-found', client.get(pods, { namespace, name }), undefined);
  return found?.metadata.uid === uid;
}
