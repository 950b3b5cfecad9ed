import { clientsMoving } from '../../core/status/client-move.ts';
import type { Stored } from '../../kube/object.ts';
import type { Observed } from './observe.ts';
import type { ClusterObject, Tools } from './sources.ts';

interface Said {
  readonly conditions?: readonly { readonly type?: string; readonly message?: string }[];
}

/** Whether the status tells clients already what they have to do. */
export function withWhatIsTold(observed: Observed, { status }: Stored<ClusterObject>): Observed {
  const { conditions = [] } = (status ?? {}) as Said;
  const isMoveTold = clientsMoving(observed.world).every(({ type, message }) =>
    conditions.some((said) => said.type === type && said.message === message),
  );
  return { ...observed, world: { ...observed.world, isMoveTold } };
}

/** Tells it in an Event too, to those who do not look at the status. */
export function tellClients(object: Stored<ClusterObject>, { world }: Observed, { tell }: Pick<Tools, 'tell'>): void {
  for (const { reason, message } of clientsMoving(world)) tell(object, { type: 'Warning', reason, message });
}
