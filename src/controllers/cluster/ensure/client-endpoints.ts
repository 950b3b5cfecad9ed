import type { ClusterWorld } from '../../../core/cluster/model/cluster.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import type { EndpointSlice } from '../../../kube/object.ts';
import { endpointSlices } from '../../../kube/resource.ts';
import { Failure } from '../../../std/failure.ts';
import type { ControllerContext } from '../../shared/context.ts';
import type { Observed } from '../observe/observe.ts';

/**
 * The members that the client Service leads to, by its EndpointSlices; `unknown` without permission to list them.
 * Undefined after any other failure: the next pass asks again.
 */
export async function observeClientEndpoints(
  { world, blueprint, podWith }: Observed,
  { list }: Pick<ControllerContext, 'list'>,
): Promise<ClusterWorld['clientEndpoints']> {
  const labelSelector = `kubernetes.io/service-name=${blueprint.naming.clientService}`;
  try {
    const { items } = await list(endpointSlices, { namespace: blueprint.intent.namespace, labelSelector });
    const names = new Set(items.flatMap(podNamesIn));
    return world.memberPods.flatMap(({ name, uid }): readonly MemberName[] =>
      names.has(podWith(uid)?.metadata.name ?? name) ? [name] : [],
    );
  } catch (thrown) {
    const failure = Failure.from(thrown);
    if (failure.kind === 'bug') throw failure;
    return failure.kind === 'forbidden' ? 'unknown' : undefined;
  }
}

const podNamesIn = ({ endpoints }: EndpointSlice): readonly string[] =>
  (endpoints ?? []).flatMap(({ targetRef }) => (targetRef?.kind === 'Pod' ? (targetRef.name ?? []) : []));
