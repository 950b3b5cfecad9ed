import { lookup as dnsLookup } from 'node:dns/promises';
import type { ClusterWorld } from '../../../core/cluster/model/cluster.ts';
import type { ClusterIntent } from '../../../core/cluster/model/intent.ts';
import { Failure } from '../../../std/failure.ts';

/** The addresses of a host name; empty if the lookup fails. */
export type Lookup = (host: string) => Promise<readonly string[]>;

const inDns: Lookup = (host) =>
  dnsLookup(host, { all: true }).then(
    (found) => found.map(({ address }) => address),
    () => [],
  );

/**
 * Fails unless the new host name of a member resolves to the member. A member with a wrong name still connects to
 * others and seems healthy. With two such members the quorum is lost, and without quorum no name can be corrected. If
 * the old name cannot be resolved either, DNS is not usable here, and the check passes.
 */
export async function confirmHost(from: string, to: string, lookup: Lookup = inDns): Promise<void> {
  const [before, after] = [hostIn(from), hostIn(to)];
  if (before === '' || before === after) return;
  const known = await lookup(before);
  if (known.length === 0) return;
  const found = await lookup(after);
  if (!known.some((address) => found.includes(address)))
    throw new Failure(
      'rejected',
      `peer URL update blocked: ${after} does not resolve to the address of ${before}: correct the cluster domain in the spec`,
    );
}

/**
 * Checks the domain with the name of the leader, because a joining member has no DNS name yet. With a wrong domain no
 * member would reach the joining member, which may be a voter at once.
 */
export async function confirmDomain(
  { membership }: Pick<ClusterWorld, 'membership'>,
  { peerURLOf }: Pick<ClusterIntent, 'peerURLOf'>,
  lookup: Lookup = inDns,
): Promise<void> {
  const leader = membership.seen ? membership.value.members.find(({ leads }) => leads) : undefined;
  if (leader !== undefined) await confirmHost(leader.peerURLs[0] ?? '', peerURLOf(leader.name), lookup);
}

const hostIn = (url: string): string => URL.parse(url)?.hostname ?? '';
