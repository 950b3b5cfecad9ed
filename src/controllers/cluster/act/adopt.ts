import { memberPodNamed } from '../../../core/cluster/model/cluster.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import type { Step } from '../../../core/cluster/plan/step.ts';
import { userMetadataAnnotation, userMetadataKeys } from '../../../core/manifests/labels.ts';
import { templateAnnotation, templateHash } from '../../../core/manifests/pod.ts';
import {
  claimAnnotation,
  peerSchemeAnnotation,
  schemeIn,
  userAnnotation,
  volumeKindHash,
} from '../../../core/manifests/pvc.ts';
import type { Pod, Stored } from '../../../kube/object.ts';
import { pods, replicaSets } from '../../../kube/resource.ts';
import { unless } from '../../../std/failure.ts';
import { annotatePvc } from './patch-pod.ts';
import { podWith, type StepContext } from './step-context.ts';

type OnMemberPod = Extract<Step, { kind: 'release-member-pod' | 'adopt-member-pod' }>;

export const adopt = (step: OnMemberPod, context: StepContext): Promise<void> =>
  step.kind === 'release-member-pod' ? releaseMemberPod(step, context) : adoptMemberPod(step, context);

/** Deletes the ReplicaSet and orphans its pod, so that the ReplicaSet creates no other pod. */
async function releaseMemberPod({ name, uid }: OnMemberPod, { blueprint, writer, signal }: StepContext): Promise<void> {
  const at = { namespace: blueprint.intent.namespace, name };
  const options = { preconditions: { uid }, propagationPolicy: 'Orphan', signal } as const;
  await unless('not-found', writer.remove(replicaSets, at, options), undefined);
}

/**
 * Annotates the PVC first, because the annotations are valid for each next pod too. The patched pod completes the
 * adoption.
 */
async function adoptMemberPod({ name, uid }: OnMemberPod, context: StepContext): Promise<void> {
  const { blueprint, writer, signal, observed } = context;
  const { naming, template, intent, owner } = blueprint;
  const pod = podWith(uid, context);
  const version = memberPodNamed(observed.world, name)?.version ?? '';
  await annotatePvc(
    name,
    {
      [naming.versionAnnotation]: version,
      [claimAnnotation(naming)]: volumeKindHash(template),
      [userAnnotation(naming)]: String(userOf(pod)),
      [peerSchemeAnnotation(naming)]: schemeIn(peerURLOf(name, context)),
    },
    context,
  );
  const annotations = {
    [naming.versionAnnotation]: version,
    [templateAnnotation(naming)]: templateHash(blueprint),
    [userMetadataAnnotation(naming)]: userMetadataKeys(template),
  };
  const body = { metadata: { uid, annotations, ownerReferences: [owner] } };
  await writer.patch(pods, { namespace: intent.namespace, name: pod.metadata.name }, { type: 'merge', body, signal });
}

/** etcd images name no user, so a container without runAsUser runs as root. */
function userOf({ spec }: Stored<Pod>): number {
  const { containers = [], securityContext } = spec ?? {};
  const etcd = containers.find((container) => container.name === 'etcd');
  return etcd?.securityContext?.runAsUser ?? securityContext?.runAsUser ?? 0;
}

function peerURLOf(name: MemberName, { observed: { world }, blueprint }: StepContext): string {
  const members = world.membership.seen ? world.membership.value.members : [];
  return members.find((member) => member.name === name)?.peerURLs[0] ?? blueprint.intent.peerURLOf(name);
}
