import { keepCertificates } from './certificates.ts';
import { cleanUp, forgetOld } from './clean-up.ts';
import { refused } from './failures.ts';
import { grow } from './growing.ts';
import { lostCluster } from './lost-cluster.ts';
import type { RestoredCluster, RestoreWorld } from './model.ts';
import { prove, startProof } from './proving.ts';
import { seed } from './seeding.ts';
import { blocked, type RestoreVerdict } from './step.ts';
import { keepStoreProxy } from './store-proxy.ts';
import { replaceOldMembers } from './switching.ts';

/**
 * The next action for a restore. Certificates and the store proxy come before the step that needs them. Until the seed
 * serves, no object of the cluster is touched.
 */
export function planRestore(world: RestoreWorld): RestoreVerdict {
  const verdict = planPhase(world);
  return keepCertificates(verdict, world) ?? keepStoreProxy(verdict, world) ?? verdict;
}

function planPhase(world: RestoreWorld): RestoreVerdict {
  switch (world.memory.phase) {
    case 'proving':
      return prove(world);
    case 'seeding':
      return refused(world) ?? withCluster(world, seed);
    case 'switching':
      return lostCluster(world) ?? withCluster(world, replaceOldMembers);
    case 'growing':
      return lostCluster(world) ?? withCluster(world, grow);
    case 'failed':
      return cleanUp(world);
    case 'complete':
      return forgetOld(world);
    default:
      return world.memory.phase satisfies never;
  }
}

type Phase = (world: RestoreWorld, cluster: RestoredCluster) => RestoreVerdict;

function withCluster(world: RestoreWorld, phase: Phase): RestoreVerdict {
  if (typeof world.cluster !== 'string') return phase(world, world.cluster);
  const mustBeReadAgain = world.isUndescribed === true && world.proof === undefined;
  return mustBeReadAgain ? startProof(world) : blocked(world.cluster);
}
