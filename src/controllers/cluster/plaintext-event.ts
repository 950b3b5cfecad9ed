import { plaintextIn } from '../../core/cluster/status/plaintext.ts';
import type { Blueprint } from '../../core/manifests/manifest.ts';
import type { Stored } from '../../kube/object.ts';
import type { ClusterObject, ControllerContext } from '../shared/context.ts';

interface WithConditions {
  readonly conditions?: readonly { readonly type?: string; readonly message?: string }[];
}

/** Records one Event for a cluster without TLS: no Event follows once the condition is in the status. */
export function recordPlaintextEvent(
  object: Stored<ClusterObject>,
  blueprint: Blueprint,
  { recordEvent }: Pick<ControllerContext, 'recordEvent'>,
): void {
  const { conditions = [] } = (object.status ?? {}) as WithConditions;
  for (const { type, reason, message } of plaintextIn(blueprint)) {
    const isReported = conditions.some((condition) => condition.type === type && condition.message === message);
    if (!isReported) recordEvent(object, { type: 'Warning', reason, message });
  }
}
