import type { Body, RestoreIntent, RestorePhase, RestoreWorld } from '../../core/model/restore.ts';
import type { RestoreVerdict } from '../../core/plan/restore/step.ts';
import { type At, keyOf } from '../../kube/object.ts';
import { pods } from '../../kube/resource.ts';
import type { Clock } from '../../runtime/clock.ts';
import { unless } from '../../std/failure.ts';
import type { ObservedRestore } from './observe.ts';
import type { RestoreTools } from './sources.ts';
import type { Target } from './target.ts';

/** For how long a full look at the namespace stands for the next ones, while what is waited for has not changed. */
const fullLookMillis = 2_000;

interface Awaited {
  readonly at: number;
  readonly phase: RestorePhase;
  readonly cluster: At & { readonly resourceVersion: string };
  /** Pods that are being deleted. */
  readonly pods: readonly (At & { readonly uid: string })[];
}

/**
 * What restores wait for where few objects show it: old members to be gone, the cluster to be left to the restore, or to have
 * its size. Those objects are read often; all pods and volumes of the namespace are not.
 */
export class Glances {
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

  /** Notes what a pass that looked at everything has to wait for. */
  note(verdict: RestoreVerdict, { world, target }: Pick<ObservedRestore, 'world' | 'target'>): void {
    const key = keyOf(world.intent);
    const awaited = verdict.is === 'wait' ? awaitedIn(world, target?.object) : undefined;
    if (awaited === undefined) this.#awaited.delete(key);
    else this.#awaited.set(key, { at: this.#clock.monotonic(), ...awaited });
  }

  /** Whether it is known, without a look at everything, that the wait goes on. */
  async isUnchanged(of: RestoreIntent, phase: RestorePhase, tools: Reading): Promise<boolean> {
    const awaited = this.#awaited.get(keyOf(of));
    if (awaited?.phase !== phase || this.#clock.monotonic() - awaited.at >= fullLookMillis) return false;
    const same = [isSameCluster(awaited, tools), ...awaited.pods.map((pod) => isStillThere(pod, tools))];
    return (await Promise.all(same)).every(Boolean);
  }
}

type Reading = Pick<RestoreTools, 'client' | 'clusters'>;

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

/** The pods that are waited for, beside the cluster's own object; nothing where other things are waited for. */
function podsAwaitedIn({ intent, memory: { phase }, cluster }: RestoreWorld): readonly Body[] | undefined {
  if (typeof cluster === 'string') return undefined;
  if (phase === 'growing') return [];
  if (phase !== 'switching') return undefined;
  if (cluster.heldBy !== intent.uid) return [];
  const leaving = cluster.oldPods.filter(({ isGoing }) => isGoing === true);
  return leaving.length === 0 ? undefined : leaving;
}

async function isSameCluster(
  { cluster: { namespace, name, resourceVersion } }: Pick<Awaited, 'cluster'>,
  { client, clusters }: Reading,
): Promise<boolean> {
  const found = await unless('not-found', client.get(clusters.resource, { namespace, name }), undefined);
  return found?.metadata.resourceVersion === resourceVersion;
}

async function isStillThere(
  { namespace, name, uid }: Awaited['pods'][number],
  { client }: Pick<Reading, 'client'>,
): Promise<boolean> {
  const found = await unless('not-found', client.get(pods, { namespace, name }), undefined);
  return found?.metadata.uid === uid;
}
