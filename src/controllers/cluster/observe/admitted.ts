import { isDeepStrictEqual } from 'node:util';
import { nonRootSecurityContext } from '../../../core/manifests/security-context.ts';
import type { KubeObject, Pod, Stored } from '../../../kube/object.ts';
import { Failure } from '../../../std/failure.ts';

/** The error text of OpenShift, which admits only the user IDs of the namespace. */
const isUserRefused = /security context constraint/i;

/**
 * Creates an object. A pod that is refused for the default user of the operator is created without a user, so that the
 * cluster chooses one. Other clusters need a user, because etcd images name none. A user from the spec is kept.
 */
export async function createAdmitted<T extends KubeObject>(
  create: (object: T) => Promise<Stored<T>>,
  object: T,
): Promise<Stored<T>> {
  try {
    return await create(object);
  } catch (thrown) {
    const { kind, message } = Failure.from(thrown);
    const changed = kind === 'forbidden' && isUserRefused.test(message) ? withoutDefaultUser(object) : undefined;
    if (changed === undefined) throw thrown;
    return create(changed);
  }
}

function withoutDefaultUser<T extends KubeObject>(object: T): T | undefined {
  const { spec } = object as Pod;
  if (object.kind !== 'Pod' || !isDeepStrictEqual(spec?.securityContext, nonRootSecurityContext)) return undefined;
  const { runAsUser: _u, runAsGroup: _g, fsGroup: _f, ...securityContext } = nonRootSecurityContext;
  return { ...object, spec: { ...spec, securityContext } };
}
