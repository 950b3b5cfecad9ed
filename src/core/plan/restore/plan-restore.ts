import type { Body, RestoredCluster, RestorePhase, RestoreWorld, Seed } from '../../model/restore.ts';
import { canLeapRevisions } from '../../model/version.ts';

export type RestoreStep =
  | { readonly kind: 'prove' }
  | { readonly kind: 'start-seed'; readonly name: string }
  | { readonly kind: 'discard-seed'; readonly name: string }
  /** From here on, going away in the middle would leave neither the old cluster nor the new one. */
  | { readonly kind: 'pin' }
  | { readonly kind: 'unpin' }
  | { readonly kind: 'hold-cluster' }
  | { readonly kind: 'stop-pods'; readonly pods: readonly Body[] }
  /** Volumes of the old members leave the cluster and stay with the restore. */
  | { readonly kind: 'set-aside'; readonly claims: readonly Body[] }
  | { readonly kind: 'hand-over'; readonly seed: Seed }
  /** The cluster's memory is from now on that of what was restored. */
  | { readonly kind: 'rewrite-memory'; readonly seed: string; readonly clusterId: string }
  | { readonly kind: 'release-cluster' }
  | { readonly kind: 'discard-old-data'; readonly claims: readonly Body[] };

export type RestoreVerdict =
  | { readonly is: 'act'; readonly step: RestoreStep; readonly message: string }
  | { readonly is: 'wait'; readonly message: string; readonly isBlocked?: true }
  /** Written down at once: what comes next depends on it. */
  | {
      readonly is: 'enter';
      readonly phase: RestorePhase;
      readonly message: string;
      readonly clusterId?: string;
      readonly seed?: string;
    }
  | { readonly is: 'over' };

/** An agent reads at least some megabytes in a second. */
const provingSeconds = 3_600;
/** From when the seed was made until it serves, with the download and the making of its data directory in between. */
const seedingSeconds = 3_600;
/** A seed that cannot start at all, because of its image for example, is not waited for that long. */
const brokenSeconds = 300;

/** What to do next for a restore. Until the seed serves, nothing that belongs to the cluster is touched. */
export function planRestore(world: RestoreWorld): RestoreVerdict {
  switch (world.memory.phase) {
    case 'proving':
      return prove(world);
    case 'seeding':
      return withCluster(world, seed);
    case 'switching':
      return lost(world) ?? withCluster(world, makeRoom);
    case 'growing':
      return lost(world) ?? withCluster(world, grow);
    case 'failed':
      return cleanUp(world);
    case 'complete':
      return forgetOld(world);
    default:
      return world.memory.phase satisfies never;
  }
}

const act = (step: RestoreStep, message: string): RestoreVerdict => ({ is: 'act', step, message });
const wait = (message: string): RestoreVerdict => ({ is: 'wait', message });
const blocked = (message: string): RestoreVerdict => ({ is: 'wait', message, isBlocked: true });
const fail = (message: string): RestoreVerdict => ({ is: 'enter', phase: 'failed', message });

/** From here on there is nothing to go back to, and without the cluster nothing to go on with. */
const lost = ({ isClusterGone, intent }: RestoreWorld): RestoreVerdict | undefined =>
  isClusterGone ? fail(`EtcdCluster "${intent.cluster}" was deleted while it was being restored`) : undefined;

type Stage = (world: RestoreWorld, cluster: RestoredCluster) => RestoreVerdict;

const withCluster = (world: RestoreWorld, stage: Stage): RestoreVerdict =>
  typeof world.cluster === 'string' ? blocked(world.cluster) : stage(world, world.cluster);

function prove(world: RestoreWorld): RestoreVerdict {
  const { proof, cluster, obstacle, intent } = world;
  if (typeof cluster === 'string') return blocked(cluster);
  const refusal = refusalOf(world, cluster);
  if (refusal !== undefined) return fail(refusal);
  if (proof === undefined)
    return obstacle === undefined ? act({ kind: 'prove' }, 'reading the backup to its end') : blocked(obstacle);
  if (proof.state.is !== 'ended') {
    const isLate = world.now - proof.createdAt > provingSeconds * 1000;
    return isLate ? fail('the backup could not be read in time') : wait(`pod ${proof.name} reads the backup`);
  }
  const { ok, message } = proof.state.report;
  if (!ok) return fail(`the backup cannot be used, and EtcdCluster "${intent.cluster}" was not touched: ${message}`);
  return { is: 'enter', phase: 'seeding', message: 'the backup is whole', seed: world.spareName };
}

function refusalOf({ intent }: RestoreWorld, { version }: RestoredCluster): string | undefined {
  if (intent.revisionBump === undefined || canLeapRevisions(version)) return undefined;
  return `revisions cannot leap in etcd ${version}: raise the version of the cluster to 3.5.10 or newer, or leave revisionBump out`;
}

function seed({ now, memory, intent }: RestoreWorld, cluster: RestoredCluster): RestoreVerdict {
  const name = memory.seed ?? '';
  const found = cluster.seed;
  if (found === undefined) return act({ kind: 'start-seed', name }, `starting member ${name} from the backup`);
  if (found.state === 'ready' && found.clusterId !== undefined)
    return { is: 'enter', phase: 'switching', message: `${name} serves what was restored`, clusterId: found.clusterId };
  const limit = found.state === 'broken' ? brokenSeconds : seedingSeconds;
  if (now - memory.since > limit * 1000)
    return fail(`member ${name} did not start, and EtcdCluster "${intent.cluster}" was not touched: ${found.why}`);
  return wait(`member ${name} is not ready: ${found.why}`);
}

/** The order is the policy: nobody else acts, then the old members go, and only then the seed takes their place. */
function makeRoom(world: RestoreWorld, cluster: RestoredCluster): RestoreVerdict {
  const { uid } = world.intent;
  if (!world.isPinned) return act({ kind: 'pin' }, 'the restore is to stay until it is over');
  if (cluster.holdAskedBy === undefined) return act({ kind: 'hold-cluster' }, 'asking the operator to stand aside');
  if (cluster.holdAskedBy !== uid) return wait('another restore of the same cluster comes first');
  if (cluster.heldBy !== uid) return wait('waiting for the operator to stand aside');
  return makePlace(cluster) ?? takePlace(world, cluster);
}

function makePlace({ oldPods, oldClaims }: RestoredCluster): RestoreVerdict | undefined {
  const staying = oldPods.filter(({ isGoing }) => isGoing !== true);
  if (staying.length > 0) return act({ kind: 'stop-pods', pods: staying }, 'stopping the old members');
  if (oldPods.length > 0) return wait('waiting until the old members have stopped');
  if (oldClaims.length === 0) return undefined;
  return act({ kind: 'set-aside', claims: oldClaims }, 'setting the data of the old members aside');
}

function takePlace({ memory }: RestoreWorld, { seed: found, clusterId }: RestoredCluster): RestoreVerdict {
  const name = memory.seed ?? '';
  if (found === undefined) return act({ kind: 'start-seed', name }, `starting member ${name} from the backup again`);
  if (!found.isHandedOver) return act({ kind: 'hand-over', seed: found }, `${name} takes the place of the old members`);
  if (memory.clusterId !== undefined && clusterId !== memory.clusterId)
    return act({ kind: 'rewrite-memory', seed: name, clusterId: memory.clusterId }, 'noting the new id of the cluster');
  return { is: 'enter', phase: 'growing', message: 'the cluster is what was restored' };
}

function grow({ intent }: RestoreWorld, cluster: RestoredCluster): RestoreVerdict {
  if (cluster.holdAskedBy === intent.uid) return act({ kind: 'release-cluster' }, 'the operator may go on');
  if (!cluster.isSettled) return wait('waiting until the cluster has its full size');
  return { is: 'enter', phase: 'complete', message: 'the cluster serves at its full size' };
}

/** What failed leaves nothing behind but its status. */
function cleanUp({ cluster, memory, isPinned }: RestoreWorld): RestoreVerdict {
  if (typeof cluster !== 'string' && cluster.seed !== undefined && !cluster.seed.isHandedOver)
    return act({ kind: 'discard-seed', name: memory.seed ?? '' }, 'removing what was made');
  return isPinned ? act({ kind: 'unpin' }, 'over') : { is: 'over' };
}

function forgetOld({ aside, isPinned }: RestoreWorld): RestoreVerdict {
  if (aside.length > 0) return act({ kind: 'discard-old-data', claims: aside }, 'removing the data of the old members');
  return isPinned ? act({ kind: 'unpin' }, 'over') : { is: 'over' };
}
