import { isDeepStrictEqual } from 'node:util';
import { keyOf, type Stored } from '../../kube/object.ts';
import type { ClusterObject, Tools } from './sources.ts';

/**
 * Writes the status, if it says anything new. The version that was read is a condition: what we remember must not be
 * written over what another operator has remembered in the meantime.
 */
export async function publish(object: Stored<ClusterObject>, status: object, tools: Tools): Promise<void> {
  const previous: object = object.status ?? {};
  if (isDeepStrictEqual(previous, status)) return;
  const { namespace, name, resourceVersion } = object.metadata;
  const gone = Object.keys(previous).filter((field) => !(field in status));
  const body = {
    metadata: { resourceVersion },
    status: { ...Object.fromEntries(gone.map((field) => [field, null])), ...status },
  };
  const at = { namespace, name };
  await tools.writer(keyOf(at)).patch(tools.resource, at, { type: 'merge', body, subresource: 'status' });
}
