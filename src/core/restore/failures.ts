import type { RestoreWorld } from './model.ts';
import { fail, type RestoreVerdict } from './step.ts';

/** Fails the restore if the name of the new cluster is taken. Nothing has been changed then. */
export const refused = ({ nameConflict }: RestoreWorld): RestoreVerdict | undefined =>
  nameConflict === undefined ? undefined : fail(`nothing was changed: ${nameConflict}`);

/** Fails the restore because its backup is damaged or missing. */
export const failInvalid = (world: RestoreWorld, why: string): RestoreVerdict =>
  fail(`the backup cannot be used, and ${unchangedCluster(world)}: ${why}`);

export const unchangedCluster = ({ intent: { cluster, into } }: RestoreWorld): string =>
  `EtcdCluster "${cluster}" was not ${into === 'new' ? 'created' : 'changed'}`;
