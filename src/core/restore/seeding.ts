import { failInvalid, unchangedCluster } from './failures.ts';
import type { RestoredCluster, RestoreWorld, Seed } from './model.ts';
import { isInconclusive, startSeeding } from './proving.ts';
import { act, blocked, fail, type RestoreVerdict } from './step.ts';

/** Time limit for the start of the seed, with the download and the creation of its data directory. */
const seedingSeconds = 3_600;
/** A seed that cannot start at all, for example because of its image, fails sooner. */
const brokenSeconds = 300;

/** Fails if the parallel check finds the backup invalid. After an inconclusive check, the seed verifies the backup. */
function invalidByCheck(world: RestoreWorld): RestoreVerdict | undefined {
  const { proof } = world;
  if (proof?.state.is !== 'ended') return undefined;
  const { report } = proof.state;
  return report.ok || isInconclusive(report) ? undefined : failInvalid(world, report.message);
}

/** The phase `seeding`: a seed member starts from the backup beside the cluster. */
export function seed(world: RestoreWorld, cluster: RestoredCluster): RestoreVerdict {
  const name = world.memory.seed ?? '';
  const found = cluster.seed;
  const early = seedNameConflict(world, cluster) ?? served(found) ?? invalidByCheck(world);
  if (early !== undefined) return early;
  if (found === undefined) return act({ kind: 'start-seed', name }, `starting member ${name} from the backup`);
  return found.state === 'refused' ? failInvalid(world, found.why) : waitForSeed(found, world);
}

function served(found: Seed | undefined): RestoreVerdict | undefined {
  if (found?.state !== 'ready' || found.clusterId === undefined) return undefined;
  const { name, clusterId } = found;
  return { is: 'enter', phase: 'switching', message: `seed member ${name} serves the restored data`, clusterId };
}

/** An object with the name of the seed that is not the seed must not be taken for it. */
function seedNameConflict(world: RestoreWorld, cluster: RestoredCluster): RestoreVerdict | undefined {
  const name = world.memory.seed ?? '';
  if (cluster.isSeedNameTaken === true) return withAnotherName(name, world);
  if (cluster.seed === undefined || !hasOldData(cluster.seed, cluster)) return undefined;
  return fail(
    `member ${name} does not serve the restored data, and ${unchangedCluster(world)}: delete it and restore again`,
  );
}

/** The cluster and the restore both use the lowest free number. The first user of a number keeps it. */
const withAnotherName = (name: string, world: RestoreWorld): RestoreVerdict =>
  world.hasSeedVolume === true
    ? act({ kind: 'discard-seed', name }, `name ${name} is in use by a member: deleting the seed of that name`)
    : startSeeding(`name ${name} is in use by a member: the seed member is ${world.spareName} instead`, world);

/** The restored etcd cluster has a new cluster ID. A member with the old cluster ID has the old data. */
const hasOldData = (found: Seed, { clusterId }: RestoredCluster): boolean =>
  found.isHandedOver || (clusterId !== undefined && found.clusterId === clusterId);

function waitForSeed({ state, why, progress, workedUntil = 0 }: Seed, world: RestoreWorld): RestoreVerdict {
  const { now, memory } = world;
  const isTooLong = state === 'broken' && now - Math.max(memory.since, workedUntil) > brokenSeconds * 1000;
  if (isTooLong || now - memory.since > seedingSeconds * 1000)
    return fail(`seed member ${memory.seed} did not start, and ${unchangedCluster(world)}: ${why}`);
  return state === 'locked'
    ? blocked(`seed member ${memory.seed} serves the restored data, but refuses the operator: ${why}`)
    : { is: 'wait', message: `seed member ${memory.seed} is not ready: ${why}`, progress };
}
