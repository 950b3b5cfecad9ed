import { type Carrier, type CarrierName, type ClusterWorld, carrierNamed } from '../../model/cluster.ts';
import { causeOf } from './cause.ts';
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
    return [{ kind: 'start-carrier', name, join: { as: 'founder', of: bootstrap } }];
  }
  return mustBeMadeAgain(carrier) ? [{ kind: 'stop-carrier', name, uid: carrier.uid }] : [];
}

const mustBeMadeAgain = ({ phase, asDesired, ready }: Carrier): boolean =>
  phase === 'ended' || (!asDesired && !ready && phase !== 'stopping');
