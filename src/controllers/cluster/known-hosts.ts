import { lookup } from 'node:dns/promises';
import type { ClusterWorld } from '../../core/model/cluster.ts';
import type { ClusterIntent } from '../../core/model/intent.ts';
import { Failure } from '../../std/failure.ts';

/** The addresses that a name leads to; none when nobody here knows it. */
export type LookUp = (host: string) => Promise<readonly string[]>;

const inDns: LookUp = (host) =>
  lookup(host, { all: true }).then(
    (found) => found.map(({ address }) => address),
    () => [],
  );

/**
 * A member whose name leads nowhere still finds the others, and seems well. So does the next one, and then the two cannot
 * find each other; without a majority nobody can be told better names. So nobody is moved from a name that leads to it to
 * one that does not. Where not even the old name can be looked up from here, nothing is known, and nothing held up.
 */
export async function confirmHost(from: string, to: string, lookUp: LookUp = inDns): Promise<void> {
  const [before, after] = [hostIn(from), hostIn(to)];
  if (before === '' || before === after) return;
  const known = await lookUp(before);
  if (known.length === 0) return;
  const found = await lookUp(after);
  if (!known.some((address) => found.includes(address)))
    throw new Failure(
      'rejected',
      `${after} does not lead to the member that is ${before} by now, so the others would not find it: correct the domain of the cluster in the spec`,
    );
}

/**
 * A newcomer has no name yet that could be looked up, but whoever leads has one that would be made in the same way. Where
 * that leads nowhere, nobody would find the newcomer either, and from its first moment it might have a vote.
 */
export async function confirmDomain(
  { membership }: Pick<ClusterWorld, 'membership'>,
  { peerURLOf }: Pick<ClusterIntent, 'peerURLOf'>,
  lookUp: LookUp = inDns,
): Promise<void> {
  const leader = membership.seen ? membership.value.members.find(({ leads }) => leads) : undefined;
  if (leader !== undefined) await confirmHost(leader.peerURLs[0] ?? '', peerURLOf(leader.name), lookUp);
}

const hostIn = (url: string): string => URL.parse(url)?.hostname ?? '';
