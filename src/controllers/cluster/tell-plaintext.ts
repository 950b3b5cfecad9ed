import type { Blueprint } from '../../core/desired/manifest.ts';
import { plaintextIn } from '../../core/status/plaintext.ts';
import type { Stored } from '../../kube/object.ts';
import type { ClusterObject, Tools } from './sources.ts';

interface Said {
  readonly conditions?: readonly { readonly type?: string; readonly message?: string }[];
}

/** Tells once in an Event that a cluster has no TLS: until the status says it. */
export function tellPlaintext(
  object: Stored<ClusterObject>,
  blueprint: Blueprint,
  { tell }: Pick<Tools, 'tell'>,
): void {
  const { conditions = [] } = (object.status ?? {}) as Said;
  for (const { type, reason, message } of plaintextIn(blueprint)) {
    const isTold = conditions.some((said) => said.type === type && said.message === message);
    if (!isTold) tell(object, { type: 'Warning', reason, message });
  }
}
