import type { RestoreWorld } from '../../model/restore.ts';
import { fail, type RestoreVerdict } from './step.ts';

export const oldDataStays = 'volumes of the old members stay until the EtcdRestore is deleted';

/** From here on there is nothing to go back to, and without the cluster nothing to go on with. */
export function lostCluster(world: RestoreWorld): RestoreVerdict | undefined {
  if (!world.isClusterGone || isYetToBeMade(world)) return undefined;
  const says = `EtcdCluster "${world.intent.cluster}" was deleted while it was being restored`;
  return fail(world.aside.length > 0 ? `${says}; ${oldDataStays}` : says);
}

const isYetToBeMade = (world: RestoreWorld): boolean =>
  world.intent.into === 'new' && world.memory.phase === 'switching' && world.isGoing !== true && !wasThere(world);

/** One that was to be replaced leaves something, where it is or in the restore's keeping. */
const wasThere = ({ intent, taken, aside }: RestoreWorld): boolean =>
  intent.replaces === true && (taken !== undefined || aside.length > 0);
