import type { ClusterWorld } from '../../model/cluster.ts';
import { quorumOf } from '../../quorum.ts';
import { causeOf } from './cause.ts';
import { knownVoters } from './formed-unseen.ts';
import { type Rule, type Verdict, wait, waitForPerson } from './step.ts';
import { isWithoutQuorum, sentenceOnLostQuorum } from './unreachable.ts';
import { causeInSecrets } from './wait-for-secrets.ts';

/**
 * Below this rule membership is known and a majority is healthy. Above it, an etcd that does not answer is never taken
 * for one that is empty: nothing is removed, whatever seems to be missing.
 */
export const waitForContact: Rule = (world) => {
  if (!isWithoutQuorum(world)) return undefined;
  const cause = world.membership.seen
    ? undefined
    : (lostForGood(world) ?? causeInSecrets(world) ?? causeOf(world.carriers) ?? nothingLeft(world));
  return cause ?? wait('NoContact', sentenceOnLostQuorum(world));
};

/** A majority without disks will not come back by itself, and which copy of the data to go on with is not ours to choose. */
function lostForGood(world: ClusterWorld): Verdict | undefined {
  const { carriers } = world;
  const voters = knownVoters(world);
  const alive = new Set(
    carriers
      .filter((c) => c.disk === 'own' || (c.disk === 'with-pod' && c.phase !== 'ended' && c.phase !== 'gone'))
      .map((c) => c.name),
  );
  const left = voters.filter((name) => alive.has(name)).length;
  if (voters.length === 0 || left >= quorumOf(voters.length)) return undefined;
  const says = `${voters.length - left} of ${voters.length} members have lost their data, which is a majority: restore a backup`;
  return waitForPerson('QuorumLost', says);
}

/** It was known by its disks alone, and they have been deleted since. */
function nothingLeft({ memory: { bootstrap, clusterId, voters }, carriers }: ClusterWorld): Verdict | undefined {
  const isKnown = clusterId === undefined || bootstrap !== undefined || voters.length > 0;
  if (isKnown || carriers.length > 0) return undefined;
  const begin = 'restore a backup, or delete this cluster and declare it again to begin anew';
  return waitForPerson('QuorumLost', `no disk is left of cluster ${clusterId}: ${begin}`);
}
