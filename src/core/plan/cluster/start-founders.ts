import { type Bootstrap, type Carrier, type ClusterWorld, carrierNamed } from '../../model/cluster.ts';
import type { ClusterIntent } from '../../model/intent.ts';
import type { CarrierName } from '../../model/names.ts';
import { causeOf } from './cause.ts';
import { hasFormedUnseen } from './formed-unseen.ts';
import { isAsDesired } from './outdated.ts';
import { act, type Rule, type Step, type Verdict, wait } from './step.ts';

/**
 * All founders start at once, each knowing all of them: one after the other would cost five seconds a member in etcd's
 * own checks. Until the cluster has formed a pod has no data to lose, so a founder that cannot start is made again
 * whenever the spec has changed. Once they have formed it, no member starts as new, whether the status says so or not.
 */
export const startFounders: Rule = (world) => {
  const { bootstrap, clusterId } = world.memory;
  if (bootstrap === undefined || clusterId !== undefined || hasFormedUnseen(world)) return undefined;

  const steps = bootstrap.members.flatMap((name) => stepFor(name, world));
  if (steps.length > 0) return act('Creating', `starting ${bootstrap.members.length} first members`, ...steps);

  return withWayOut(causeOf(world.carriers), bootstrap, world.intent) ?? wait('Forming', waitingFor(bootstrap));
};

/** Who founds a cluster is never thought over: a majority of them may have formed it unseen. */
function withWayOut(cause: Verdict | undefined, { members }: Bootstrap, { size }: ClusterIntent): Verdict | undefined {
  if (cause?.is !== 'wait' || size >= members.length) return cause;
  const says = `the first ${members.length} members have to find each other before there can be ${size}`;
  return {
    ...cause,
    message: `${cause.message}; ${says}: let them start, or delete this cluster and declare it again`,
  };
}

/** Who has data does not answer without the others who have it, and nobody here can know how many those were. */
function waitingFor({ members, onLeftDisks }: Bootstrap): string {
  if (onLeftDisks !== true) return 'waiting for the first members to find each other';
  return (
    `waiting for ${members.join(', ')} to go on with the volumes that were left under these names, and that nothing else is ` +
    'done to; if they are fewer than a majority of the cluster that left them, delete this cluster and declare it again when ' +
    'the others are back, or delete their claims as well and restore a backup'
  );
}

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
