import { failInvalid, refused, unchangedCluster } from './failures.ts';
import type { ObjectRef, RestoredCluster, RestoreWorld, Seed } from './model.ts';
import { act, blocked, fail, type RestoreVerdict, wait } from './step.ts';

/**
 * The phase `switching`: the seed replaces the old members. The order is the policy: hold the cluster, then stop the old
 * members, and only then hand over to the seed.
 */
export const replaceOldMembers = (world: RestoreWorld, cluster: RestoredCluster): RestoreVerdict =>
  refused(world) ??
  holdCluster(world, cluster) ??
  keepSeed(world, cluster) ??
  stopOldMembers(cluster) ??
  handOverToSeed(world, cluster);

function holdCluster({ intent, isPinned }: RestoreWorld, cluster: RestoredCluster): RestoreVerdict | undefined {
  if (!isPinned) return act({ kind: 'pin' }, 'adding a finalizer to the EtcdRestore');
  if (!cluster.isThere) return act({ kind: 'create-cluster' }, `creating EtcdCluster "${intent.cluster}"`);
  if (cluster.holdAskedBy === undefined) return act({ kind: 'hold-cluster' }, 'pausing the cluster controller');
  if (cluster.holdAskedBy !== intent.uid) return wait('waiting for another restore of the same cluster');
  return cluster.heldBy === intent.uid ? undefined : wait('waiting for the cluster controller to pause');
}

/** The seed can be evicted like any pod. Without a PVC its data is lost, and it is restored from the backup again. */
function keepSeed(world: RestoreWorld, cluster: RestoredCluster): RestoreVerdict | undefined {
  const { seed: found, oldPods } = cluster;
  const name = world.memory.seed ?? '';
  if (cluster.isSeedNameTaken === true) return seedNameLost(name, world, oldPods);
  if (found === undefined)
    return act({ kind: 'start-seed', name }, `starting seed member ${name} from the backup again`);
  if (found.isHandedOver || found.state === 'ready') return undefined;
  if (found.state === 'stopping')
    return wait(`seed member ${name} was stopped, and is restarted once its pod is deleted`);
  return oldPods.some(isStaying) ? whileOldMembersRun(found, world) : afterOldMembersStopped(found);
}

/** The seed was lost, and another object has its name. */
const seedNameLost = (name: string, world: RestoreWorld, old: readonly ObjectRef[]): RestoreVerdict =>
  old.some(isStaying)
    ? fail(`seed member ${name} was lost and its name is taken, and ${unchangedCluster(world)}: restore again`)
    : blocked(`seed member ${name} was lost and its name is taken: delete the pod and the PVC of that name`);

const whileOldMembersRun = ({ name, state, why }: Seed, world: RestoreWorld): RestoreVerdict =>
  state === 'refused' ? failInvalid(world, why) : wait(`seed member ${name} is not ready: ${why}`);

/** The old members are stopped, so the restore cannot fail back to them. */
const afterOldMembersStopped = ({ state, why }: Seed): RestoreVerdict | undefined =>
  state === 'refused' ? blocked(why) : undefined;

const isStaying = ({ isTerminating }: ObjectRef): boolean => isTerminating !== true;

/** An old pod on a lost node is not waited for: it cannot join the new cluster, and the Service does not select it. */
function stopOldMembers({ oldPods, oldClaims }: RestoredCluster): RestoreVerdict | undefined {
  const staying = oldPods.filter(isStaying);
  if (staying.length > 0) return act({ kind: 'stop-pods', pods: staying }, 'stopping the old members');
  const leaving = oldPods.filter(({ isOverdue }) => isOverdue !== true).map(({ name }) => name);
  if (leaving.length > 0) return wait(`waiting for old members to stop: ${leaving.join(', ')}`);
  if (oldClaims.length === 0) return undefined;
  return act({ kind: 'set-aside', claims: oldClaims }, 'setting aside the PVCs of the old members');
}

function handOverToSeed({ memory }: RestoreWorld, { seed: found, clusterId }: RestoredCluster): RestoreVerdict {
  const name = memory.seed ?? '';
  if (found === undefined) return wait(`waiting for seed member ${name} to exist`);
  if (!found.isHandedOver)
    return act({ kind: 'hand-over', seed: found }, `seed member ${name} replaces the old members`);
  if (memory.clusterId !== undefined && clusterId !== memory.clusterId)
    return act(
      { kind: 'rewrite-memory', seed: name, clusterId: memory.clusterId, memberId: found.memberId },
      'recording the new cluster ID',
    );
  return { is: 'enter', phase: 'growing', message: 'the cluster serves the restored data' };
}
