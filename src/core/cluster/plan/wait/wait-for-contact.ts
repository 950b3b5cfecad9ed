import { quorumOf } from '../../../quorum.ts';
import type { ClusterWorld, KnownWorld } from '../../model/cluster.ts';
import { knownVoters } from '../bootstrap/has-formed.ts';
import { causeOf } from '../cause.ts';
import { isWithoutQuorum, lostQuorumMessage } from '../heal/unreachable.ts';
import { type Verdict, wait, waitForUser } from '../step.ts';
import { causeInSecrets } from './wait-for-secrets.ts';

/** True if membership is known and a majority is healthy. */
export const hasContact = (world: ClusterWorld): world is KnownWorld => !isWithoutQuorum(world);

/** Why the cluster waits for contact. */
export function waitForContact(world: ClusterWorld): Verdict {
  const cause = world.membership.seen
    ? undefined
    : (lostForGood(world) ?? causeInSecrets(world) ?? causeOf(world.memberPods) ?? nothingLeft(world));
  return cause ?? wait('NoContact', lostQuorumMessage(world));
}

/**
 * A majority without data cannot recover. The user has to choose the data to continue with. Pods and PVCs that have
 * only lost their labels are no loss: they are missing in the caches until their labels are restored.
 */
function lostForGood(world: ClusterWorld): Verdict | undefined {
  const { memberPods } = world;
  const voters = knownVoters(world);
  const alive = new Set(
    memberPods
      .filter((c) => c.volume === 'own' || (c.volume === 'with-pod' && c.phase !== 'ended' && c.phase !== 'gone'))
      .map((c) => c.name),
  );
  const left = voters.filter((name) => alive.has(name)).length;
  if (voters.length === 0 || left >= quorumOf(voters.length)) return undefined;
  const [hidden] = world.hidden ?? [];
  if (hidden !== undefined) return waitForUser('NoContact', hidden.why); // a restored label causes a watch event
  const lost = `${voters.length - left} of ${voters.length} members`;
  return waitForUser('QuorumLost', `quorum lost: ${lost} have lost their data; restore a backup`);
}

/** True if the plan needs to know which objects no cache shows, before it concludes that quorum is lost. */
export const needsHidden = (verdict: Verdict, { hidden }: ClusterWorld): boolean =>
  hidden === undefined && verdict.is === 'wait' && verdict.reason === 'QuorumLost';

/** The cluster was known by its retained PVCs only, and all of them have been deleted. */
function nothingLeft({ memory: { bootstrap, clusterId, voters }, memberPods }: ClusterWorld): Verdict | undefined {
  const isKnown = clusterId === undefined || bootstrap !== undefined || voters.length > 0;
  if (isKnown || memberPods.length > 0) return undefined;
  const remedy = 'restore a backup, or delete and recreate the EtcdCluster to start with an empty cluster';
  return waitForUser('QuorumLost', `all PVCs of etcd cluster ${clusterId} are gone: ${remedy}`);
}
