import {
  type Carrier,
  type CarrierName,
  type ClusterIntent,
  type ClusterWorld,
  carrierNamed,
} from '../../model/cluster.ts';
import { causeOf } from './cause.ts';
import { isAsDesired } from './outdated.ts';
import { act, type Rule, type Step, wait } from './step.ts';

/**
 * All founders start at once, each knowing all of them: one after the other would cost five seconds a member in etcd's
 * own checks. Until the cluster has formed there is no data to lose, so a founder that cannot start is made again
 * whenever the spec has changed.
 */
export const startFounders: Rule = (world) => {
  const { bootstrap, clusterId } = world.memory;
  if (bootstrap === undefined || clusterId !== undefined) return undefined;

  const steps = bootstrap.members.flatMap((name) => stepFor(name, world));
  if (steps.length > 0) return act('Creating', `starting ${bootstrap.members.length} first members`, ...steps);

  const stuck = causeOf(world.carriers);
  return stuck ?? wait('Forming', 'waiting for the first members to find each other');
};

function stepFor(name: CarrierName, world: ClusterWorld): readonly Step[] {
  const carrier = carrierNamed(world, name);
  const { bootstrap } = world.memory;
  if (bootstrap === undefined) return [];
  if (carrier === undefined || carrier.phase === 'gone') {
    return [{ kind: 'start-carrier', name, join: { as: 'founder', of: bootstrap }, version: world.intent.version }];
  }
  return mustBeMadeAgain(carrier, world.intent) ? [{ kind: 'stop-carrier', name, uid: carrier.uid }] : [];
}

function mustBeMadeAgain(carrier: Carrier, intent: ClusterIntent): boolean {
  const { phase, ready } = carrier;
  return phase === 'ended' || (!isAsDesired(carrier, intent.version, intent) && !ready && phase !== 'stopping');
}
