import { clientMigrationCondition } from '../../../core/cluster/status/client-migration.ts';
import type { Stored } from '../../../kube/object.ts';
import type { ClusterObject, ControllerContext } from '../../shared/context.ts';
import type { Observed } from '../observe/observe.ts';

interface WithConditions {
  readonly conditions?: readonly { readonly type?: string; readonly message?: string }[];
}

/** Notes in the world whether the status already has the condition about the client migration. */
export function withReportedMigration(observed: Observed, { status }: Stored<ClusterObject>): Observed {
  const { conditions = [] } = (status ?? {}) as WithConditions;
  const isMigrationAnnounced = clientMigrationCondition(observed.world).every(({ type, message }) =>
    conditions.some((condition) => condition.type === type && condition.message === message),
  );
  return { ...observed, world: { ...observed.world, isMigrationAnnounced } };
}

/** Records the client migration as a Warning Event too. */
export function notifyClients(
  object: Stored<ClusterObject>,
  { world }: Observed,
  { recordEvent }: Pick<ControllerContext, 'recordEvent'>,
): void {
  for (const { reason, message } of clientMigrationCondition(world))
    recordEvent(object, { type: 'Warning', reason, message });
}
