import type { Blueprint } from '../../core/desired/manifest.ts';
import type { EtcdConnection } from '../../etcd/client.ts';
import { Failure } from '../../std/failure.ts';
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

/** Changes are asked of the leader: it knows best, and old versions do not pass all of them on. */
export function leaderOf({ observed }: Deed): EtcdConnection {
  const { membership } = observed.world;
  const members = membership.seen ? membership.value.members : [];
  const leader = members.find((member) => member.leads);
  const connection = leader === undefined ? undefined : observed.connectionTo(leader.name);
  if (connection === undefined) throw new Failure('unreachable', 'there is no leader to ask at the moment');
  return connection;
}
