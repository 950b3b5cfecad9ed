import { describe, expect, it } from 'vitest';
import { agentPod } from '../../../core/manifests/agent-pod.ts';
import type { Pod } from '../../../kube/object.ts';
import { Failure } from '../../../std/failure.ts';
import { createAdmitted } from './admitted.ts';

const pod = agentPod({
  ...{ name: 'saves', namespace: 'n', labels: {}, annotations: {}, owner: undefined, image: { name: 'ours' } },
  ...{ calls: [{ name: 'save', args: [] }], mounts: [], deadlineSeconds: 1, serviceAccountName: undefined },
}) as unknown as Pod;

const openShift =
  'pods "saves" is forbidden: unable to validate against any security context constraint: provider restricted-v2: ' +
  '.spec.securityContext.fsGroup: Invalid value: []int64{65532}: 65532 is not an allowed group';

/** Creates a pod while the first request is refused with this message. Returns the tried security contexts. */
async function tried(object: Pod, message: string): Promise<readonly unknown[]> {
  const contexts: unknown[] = [];
  const create = async (one: Pod) => {
    contexts.push(one.spec?.securityContext);
    if (contexts.length === 1) throw new Failure('forbidden', message);
    return one as never;
  };
  await createAdmitted(create, object).catch(() => undefined);
  return contexts;
}

describe('a pod that the API server refuses', () => {
  it('is created without a user if the cluster does not admit the default user', async () => {
    expect(await tried(pod, openShift)).toEqual([
      expect.objectContaining({ runAsUser: 65532, fsGroup: 65532 }),
      { runAsNonRoot: true, fsGroupChangePolicy: 'OnRootMismatch', seccompProfile: { type: 'RuntimeDefault' } },
    ]);
  });

  it('is not retried for another reason, or with a user from the spec', async () => {
    expect(await tried(pod, 'exceeded quota')).toHaveLength(1);
    const chosen = { ...pod, spec: { ...pod.spec, securityContext: { runAsUser: 7 } } } as Pod;
    expect(await tried(chosen, openShift)).toHaveLength(1);
  });
});
