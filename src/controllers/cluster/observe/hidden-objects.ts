import { type HiddenObject, memberPodNamed } from '../../../core/cluster/model/cluster.ts';
import type { MemberObject } from '../../../core/cluster/model/live-objects.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import { knownVoters } from '../../../core/cluster/plan/bootstrap/has-formed.ts';
import { isOwnVolume, lostLabels } from '../../../core/cluster/plan/upkeep/labels.ts';
import { pods } from '../../../kube/resource.ts';
import { Failure } from '../../../std/failure.ts';
import { isOwnedBy } from '../../../std/owner.ts';
import type { ControllerContext } from '../../shared/context.ts';
import { isDeletionOverdue, isOfPreviousCluster, notDeletedMessage } from '../act/previous-incarnation.ts';
import { getLive, type StepContext } from '../act/step-context.ts';
import { podObject, pvcObject } from '../ensure/live-objects.ts';
import { claimsOnServer } from './member-pvc.ts';
import type { Observed } from './observe.ts';

type LiveContext = Pick<StepContext, 'blueprint' | 'observed' | 'controller' | 'signal'>;

/** A pod with the name of a member. `isTaken`: a user has to resolve the name conflict. */
export type PodInTheWay = { readonly lost: MemberObject } | { readonly failure: Failure; readonly isTaken?: true };

/**
 * Asks the API server for a pod of this name. Caches show only pods with the labels of the operator. A pod of the
 * cluster may have lost its labels; a foreign pod is a name conflict.
 */
export async function podInTheWay(name: MemberName, context: LiveContext): Promise<PodInTheWay | undefined> {
  const pod = await getLive(pods, name, context);
  if (pod === undefined) return undefined;
  if (isOwnedBy(pod, context.blueprint.intent.uid)) {
    const lost = podObject(pod);
    if (lostLabels(lost, context.blueprint) !== undefined) return { lost };
    return { failure: new Failure('conflict', `the pod of ${name} exists`) }; // the cache is late
  }
  if (isDeletionOverdue(pod, context)) return taken(notDeletedMessage('Pod', name));
  if (isOfPreviousCluster(pod, context))
    return { failure: new Failure('conflict', `Pod ${name} of a previous cluster with this name is being deleted`) };
  return taken(
    `Pod ${name} has the name of a member and does not belong to this cluster: delete it, or make the cluster its owner again`,
  );
}

const taken = (message: string): PodInTheWay => ({ failure: new Failure('rejected', message), isTaken: true });

/** The pods and PVCs of voters that the API server has and no cache shows. Read only if quorum seems to be lost. */
export async function observeHidden(
  observed: Observed,
  controller: ControllerContext,
): Promise<readonly HiddenObject[]> {
  const { world, blueprint } = observed;
  const context = { blueprint, observed, controller, signal: AbortSignal.timeout(30_000) };
  const checks = knownVoters(world).map((name) => hiddenOf(name, context));
  return (await Promise.all(checks)).flat();
}

async function hiddenOf(name: MemberName, context: LiveContext): Promise<readonly HiddenObject[]> {
  const memberPod = memberPodNamed(context.observed.world, name);
  if (memberPod !== undefined && memberPod.volume !== 'lost') return [];
  try {
    const pod = memberPod === undefined ? await podInTheWay(name, context) : undefined;
    return pod === undefined ? await hiddenVolume(name, context) : [described(pod, context)];
  } catch (thrown) {
    return [{ why: Failure.from(thrown).message }];
  }
}

const described = (pod: PodInTheWay, context: LiveContext): HiddenObject =>
  'lost' in pod
    ? withLostLabels(pod.lost, context)
    : { why: pod.failure.message, ...(pod.isTaken === true ? { isTaken: true } : {}) };

const withLostLabels = (lost: MemberObject, { blueprint }: LiveContext): HiddenObject => ({
  why: `${lostLabels(lost, blueprint)?.why}: the operator restores them`,
  lost,
});

/** The first PVC of a member that has lost its labels. */
async function hiddenVolume(name: MemberName, context: LiveContext): Promise<readonly HiddenObject[]> {
  const { blueprint, observed } = context;
  const own = (await claimsOnServer(name, context))
    .filter((claim) => isOwnVolume(claim, blueprint, observed.world.memory))
    .map(pvcObject);
  const lost = own.find((each) => lostLabels(each, blueprint) !== undefined);
  return lost === undefined ? [] : [withLostLabels(lost, context)];
}
