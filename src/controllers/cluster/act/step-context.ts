import type { Member } from '../../../core/cluster/model/cluster.ts';
import type { Blueprint } from '../../../core/manifests/manifest.ts';
import type { EtcdConnection } from '../../../etcd/client.ts';
import type { EtcdMember } from '../../../etcd/types.ts';
import type { KubeObject, Pod, Stored } from '../../../kube/object.ts';
import type { Resource } from '../../../kube/resource.ts';
import { Failure, unless } from '../../../std/failure.ts';
import type { ControllerContext } from '../../shared/context.ts';
import type { Writer } from '../../shared/writer.ts';
import type { PeerContext } from '../ensure/peers.ts';
import type { Observed } from '../observe/observe.ts';
import type { UpkeepContext } from './upkeep/context.ts';

/** The dependencies of a step. */
export interface StepContext {
  readonly blueprint: Blueprint;
  readonly observed: Observed;
  readonly controller: ControllerContext;
  readonly writer: Writer;
  readonly peers: PeerContext | undefined;
  readonly signal: AbortSignal;
}

/** The part of a step context that upkeep needs. */
export const upkeepContext = ({ blueprint: { intent }, controller, writer, signal }: LabelContext): UpkeepContext => ({
  cluster: intent,
  controller,
  writer,
  signal,
});

/** The part of a step context that live checks need. */
export type LabelContext = Pick<StepContext, 'blueprint' | 'observed' | 'controller' | 'writer' | 'signal'>;

/** Fails if this operator no longer leads: after a pause of the process another operator may take steps. */
export function confirmLeads({ leads }: Pick<ControllerContext, 'leads'>): void {
  if (leads?.() === false) throw new Failure('conflict', 'this operator no longer holds the leader lease');
}

/** The pod that a step was planned for, by its UID. */
export function podWith(uid: string, { observed }: StepContext): Stored<Pod> {
  const pod = observed.podWith(uid);
  if (pod === undefined) throw new Failure('conflict', 'the pod no longer exists');
  return pod;
}

const membersIn = ({ observed: { world } }: StepContext): readonly Member[] =>
  world.membership.seen ? world.membership.value.members : [];

/** Changes are sent to the leader: old versions do not forward all of them. */
export function leaderOf(context: StepContext): EtcdConnection {
  const { observed } = context;
  const leader = membersIn(context).find((member) => member.leads);
  const connection = leader === undefined ? undefined : observed.connectionTo(leader.name);
  if (connection === undefined) throw new Failure('unreachable', 'etcd has no reachable leader');
  return connection;
}

/**
 * Awaits a membership change of the leader. Its answer is lost if the leader is stopped or removed meanwhile. Then a
 * follower is asked whether the change is done.
 */
export async function confirmUnanswered(
  change: Promise<unknown>,
  isDone: (list: readonly EtcdMember[]) => boolean,
  context: StepContext,
): Promise<void> {
  await change.catch(async (thrown: unknown) => {
    const list = await Promise.any(listsOfFollowers(context)).catch(() => []);
    if (list.length === 0 || !isDone(list)) throw thrown;
  });
}

const listsOfFollowers = (context: StepContext): readonly Promise<readonly EtcdMember[]>[] =>
  membersIn(context)
    .filter(({ leads }) => !leads)
    .flatMap(({ name }) => context.observed.connectionTo(name)?.memberList({ signal: context.signal }) ?? []);

/** Reads an object from the API server, because caches may be late. */
export async function getLive<T extends KubeObject>(
  resource: Resource<T>,
  name: string,
  { blueprint, controller, signal }: Pick<StepContext, 'blueprint' | 'controller' | 'signal'>,
): Promise<Stored<T> | undefined> {
  const at = { namespace: blueprint.intent.namespace, name };
  return await unless('not-found', controller.client.get(resource, at, { signal }), undefined);
}
