import type { Blueprint } from '../../core/desired/manifest.ts';
import type { Member } from '../../core/model/cluster.ts';
import type { EtcdConnection } from '../../etcd/client.ts';
import type { EtcdMember } from '../../etcd/words.ts';
import type { KubeObject, Pod, Stored } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { Failure, unless } from '../../std/failure.ts';
import type { Observed } from './observe.ts';
import type { PeerKeeping } from './peers.ts';
import type { Tools } from './sources.ts';
import type { Writer } from './writer.ts';

/** What performing a step needs. */
export interface Deed {
  readonly blueprint: Blueprint;
  readonly observed: Observed;
  readonly tools: Tools;
  readonly writer: Writer;
  readonly peers: PeerKeeping | undefined;
  readonly signal: AbortSignal;
}

/** The pod that a step was planned for, whatever it is called. */
export function podWith(uid: string, { observed }: Deed): Stored<Pod> {
  const pod = observed.podWith(uid);
  if (pod === undefined) throw new Failure('conflict', 'the pod is gone');
  return pod;
}

const membersIn = ({ observed: { world } }: Deed): readonly Member[] =>
  world.membership.seen ? world.membership.value.members : [];

/** Changes are asked of the leader: it knows best, and old versions do not pass all of them on. */
export function leaderOf(deed: Deed): EtcdConnection {
  const { observed } = deed;
  const leader = membersIn(deed).find((member) => member.leads);
  const connection = leader === undefined ? undefined : observed.connectionTo(leader.name);
  if (connection === undefined) throw new Failure('unreachable', 'there is no leader to ask at the moment');
  return connection;
}

/**
 * Asks the leader for a change of the membership. Its answer can be lost although all have heard it, as when it is stopped
 * meanwhile, or is itself the one who goes: then the others are asked whether it is done.
 */
export async function evenUnanswered(
  asked: Promise<unknown>,
  isDone: (list: readonly EtcdMember[]) => boolean,
  deed: Deed,
): Promise<void> {
  await asked.catch(async (thrown: unknown) => {
    const list = await Promise.any(listsOfFollowers(deed)).catch(() => []);
    if (list.length === 0 || !isDone(list)) throw thrown;
  });
}

const listsOfFollowers = (deed: Deed): readonly Promise<readonly EtcdMember[]>[] =>
  membersIn(deed)
    .filter(({ leads }) => !leads)
    .flatMap(({ name }) => deed.observed.connectionTo(name)?.memberList({ signal: deed.signal }) ?? []);

/** Asks the API server itself: a copy may be late. */
export async function lookUp<T extends KubeObject>(
  resource: Resource<T>,
  name: string,
  { blueprint, tools, signal }: Pick<Deed, 'blueprint' | 'tools' | 'signal'>,
): Promise<Stored<T> | undefined> {
  const at = { namespace: blueprint.intent.namespace, name };
  return await unless('not-found', tools.client.get(resource, at, { signal }), undefined);
}
