import type { RestoreWorld } from './model.ts';
import { fail, type RestoreVerdict } from './step.ts';

export const oldDataStays = 'volumes of the old members stay until the EtcdRestore is deleted';

/** Fails the restore if its EtcdCluster was deleted after the old members were stopped. */
export function lostCluster(world: RestoreWorld): RestoreVerdict | undefined {
  if (!world.isClusterGone || isYetToBeMade(world)) return undefined;
  const message = `EtcdCluster "${world.intent.cluster}" was deleted while it was being restored`;
  return fail(world.retainedClaims.length > 0 ? `${message}; ${oldDataStays}` : message);
}

const isYetToBeMade = (world: RestoreWorld): boolean =>
  world.intent.into === 'new' && world.memory.phase === 'switching' && world.isTerminating !== true && !wasThere(world);

/** True if a cluster to be replaced existed: it leaves objects, or PVCs that the restore has set aside. */
const wasThere = ({ intent, nameConflict, retainedClaims }: RestoreWorld): boolean =>
  intent.replaces === true && (nameConflict !== undefined || retainedClaims.length > 0);
