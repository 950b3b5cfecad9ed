import { findingsIn } from '../../core/cluster/status/trouble.ts';
import type { Stored } from '../../kube/object.ts';
import type { ClusterObject, ControllerContext } from '../shared/context.ts';
import type { Observed } from './observe/observe.ts';

/** Records alarms and unreachable members as Warning Events, whatever the verdict is, also for a paused cluster. */
export function recordFindings(
  object: Stored<ClusterObject>,
  { world }: Pick<Observed, 'world'>,
  { recordEvent, log }: Pick<ControllerContext, 'recordEvent' | 'log'>,
): void {
  for (const { reason, message } of findingsIn(world)) recordEvent(object, { type: 'Warning', reason, message });
  const { membership } = world;
  if (membership.seen || membership.detail === undefined) return;
  const { namespace, name } = object.metadata;
  log('debug', 'reading etcd members failed', { cluster: `${namespace}/${name}`, detail: membership.detail });
}
