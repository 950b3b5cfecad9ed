import { isDeepStrictEqual } from 'node:util';
import { anyoneButRoot } from '../../core/desired/security-context.ts';
import type { KubeObject, Pod, Stored } from '../../kube/object.ts';
import { Failure } from '../../std/failure.ts';

/** In the words of OpenShift, which gives each namespace users of its own and lets pods in as nobody else. */
const wantsAnotherUser = /security context constraint/i;

/**
 * Creates an object; and a pod that is refused for the user that we chose, without one: then the cluster chooses. Elsewhere we
 * have to, as images of etcd name none. A user that somebody else has chosen stays.
 */
export async function createAdmitted<T extends KubeObject>(
  create: (object: T) => Promise<Stored<T>>,
  object: T,
): Promise<Stored<T>> {
  try {
    return await create(object);
  } catch (thrown) {
    const { kind, message } = Failure.from(thrown);
    const other = kind === 'forbidden' && wantsAnotherUser.test(message) ? withoutOurUser(object) : undefined;
    if (other === undefined) throw thrown;
    return create(other);
  }
}

function withoutOurUser<T extends KubeObject>(object: T): T | undefined {
  const { spec } = object as Pod;
  if (object.kind !== 'Pod' || !isDeepStrictEqual(spec?.securityContext, anyoneButRoot)) return undefined;
  const { runAsUser: _u, runAsGroup: _g, fsGroup: _f, ...securityContext } = anyoneButRoot;
  return { ...object, spec: { ...spec, securityContext } };
}
