import {
  claimAnnotation,
  claimMark,
  peerSchemeAnnotation,
  schemeIn,
  userAnnotation,
} from '../../core/desired/claim.ts';
import { passedAnnotation, passedNames } from '../../core/desired/labels.ts';
import { templateAnnotation, templateMark } from '../../core/desired/pod.ts';
import { carrierNamed } from '../../core/model/cluster.ts';
import type { CarrierName } from '../../core/model/names.ts';
import type { Step } from '../../core/plan/cluster/step.ts';
import type { Pod, Stored } from '../../kube/object.ts';
import { pods, replicaSets } from '../../kube/resource.ts';
import { unless } from '../../std/failure.ts';
import { noteOnClaim } from './change-pod.ts';
import { type Deed, podWith } from './deed.ts';

type OnCarrier = Extract<Step, { kind: 'release-carrier' | 'adopt-carrier' }>;

export const takeOver = (step: OnCarrier, deed: Deed): Promise<void> =>
  step.kind === 'release-carrier' ? releaseCarrier(step, deed) : adoptCarrier(step, deed);

/** Its pod is left where it is: nobody makes another one in its place any more. */
async function releaseCarrier({ name, uid }: OnCarrier, { blueprint, writer, signal }: Deed): Promise<void> {
  const at = { namespace: blueprint.intent.namespace, name };
  const options = { preconditions: { uid }, propagationPolicy: 'Orphan', signal } as const;
  await unless('not-found', writer.remove(replicaSets, at, options), undefined);
}

/** The disk first: what stands on it is true of whoever uses it next, and the pod is what says that all of it is done. */
async function adoptCarrier({ name, uid }: OnCarrier, deed: Deed): Promise<void> {
  const { blueprint, writer, signal, observed } = deed;
  const { naming, template, intent, owner } = blueprint;
  const pod = podWith(uid, deed);
  const version = carrierNamed(observed.world, name)?.version ?? '';
  await noteOnClaim(
    name,
    {
      [naming.versionAnnotation]: version,
      [claimAnnotation(naming)]: claimMark(template),
      [userAnnotation(naming)]: String(userOf(pod)),
      [peerSchemeAnnotation(naming)]: schemeIn(peerURLOf(name, deed)),
    },
    deed,
  );
  const annotations = {
    [naming.versionAnnotation]: version,
    [templateAnnotation(naming)]: templateMark(blueprint),
    [passedAnnotation(naming)]: passedNames(template),
  };
  const body = { metadata: { uid, annotations, ownerReferences: [owner] } };
  await writer.patch(pods, { namespace: intent.namespace, name: pod.metadata.name }, { type: 'merge', body, signal });
}

/** Images of etcd name no user, and so run as root where nobody says otherwise. */
function userOf({ spec }: Stored<Pod>): number {
  const { containers = [], securityContext } = spec ?? {};
  const etcd = containers.find((container) => container.name === 'etcd');
  return etcd?.securityContext?.runAsUser ?? securityContext?.runAsUser ?? 0;
}

function peerURLOf(name: CarrierName, { observed: { world }, blueprint }: Deed): string {
  const members = world.membership.seen ? world.membership.value.members : [];
  return members.find((member) => member.name === name)?.peerURLs[0] ?? blueprint.intent.peerURLOf(name);
}
