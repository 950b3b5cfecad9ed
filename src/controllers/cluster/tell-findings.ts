import { findingsIn } from '../../core/status/trouble.ts';
import type { Stored } from '../../kube/object.ts';
import type { Observed } from './observe.ts';
import type { ClusterObject, Tools } from './sources.ts';

/** Tells alarms and members that are away in Warning Events, whatever was decided, and also while the cluster is paused. */
export function tellFindings(
  object: Stored<ClusterObject>,
  { world }: Pick<Observed, 'world'>,
  { tell, log }: Pick<Tools, 'tell' | 'log'>,
): void {
  for (const { reason, message } of findingsIn(world)) tell(object, { type: 'Warning', reason, message });
  const { membership } = world;
  if (membership.seen || membership.detail === undefined) return;
  const { namespace, name } = object.metadata;
  log('debug', 'etcd cannot be asked', { cluster: `${namespace}/${name}`, detail: membership.detail });
}
