import { type ClusterWorld, memberPodNamed } from '../../../core/cluster/model/cluster.ts';
import type { MemberObject } from '../../../core/cluster/model/live-objects.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import { knownVoters } from '../../../core/cluster/plan/bootstrap/has-formed.ts';
import { type Verdict, waitForUser } from '../../../core/cluster/plan/step.ts';
import { isOwnVolume, lostLabels } from '../../../core/cluster/plan/upkeep/labels.ts';
import { keyOf, type PersistentVolumeClaim, type Stored } from '../../../kube/object.ts';
import { pods } from '../../../kube/resource.ts';
import { Failure } from '../../../std/failure.ts';
import type { ControllerContext } from '../../shared/context.ts';
import { podObject, pvcObject } from '../ensure/live-objects.ts';
import { ReportedFailure } from '../failure-report.ts';
import { claimsOnServer } from '../observe/member-pvc.ts';
import { isLost, isOwnedBy } from '../observe/members.ts';
import type { Observed } from '../observe/observe.ts';
import { isOfPreviousCluster, isOverdue, notDeletedMessage } from './previous-incarnation.ts';
import { getLive, type LabelContext, upkeepContext } from './step-context.ts';
import { recordFailure, restoreLabels } from './upkeep/labels.ts';

/**
 * Fails unless the API server has no pod of this name. Caches show only pods with the labels of the operator. A pod of
 * the cluster that has lost its labels gets them back. A foreign pod is reported as a name conflict.
 */
export async function confirmAbsence(name: MemberName, context: LabelContext): Promise<void> {
  const pod = await getLive(pods, name, context);
  if (pod === undefined) return;
  if (isOwnedBy(pod.metadata, context.blueprint.intent.uid)) {
    const restored = await restoreLost(podObject(pod), context);
    if (restored !== undefined) throw new ReportedFailure('rejected', restored);
    throw new Failure('conflict', `the pod of ${name} exists`); // the cache is late
  }
  if (isOverdue(pod, context)) throw recordFailure('NameTaken', notDeletedMessage('Pod', name), upkeepContext(context));
  if (isOfPreviousCluster(pod, context))
    throw new Failure('conflict', `Pod ${name} of a previous cluster with this name is being deleted`);
  const message = `Pod ${name} has the name of a member and does not belong to this cluster: delete it, or make the cluster its owner again`;
  throw recordFailure('NameTaken', message, upkeepContext(context));
}

/** Restores the lost labels of an object, and returns the message of the Event; undefined if no label is lost. */
async function restoreLost(object: MemberObject, context: LabelContext): Promise<string | undefined> {
  const step = lostLabels(object, context.blueprint);
  return step === undefined ? undefined : await restoreLabels(step, upkeepContext(context));
}

/** The same for a PVC of this cluster that the cache does not show. */
async function restoreOwnVolumeLabels(
  claim: Stored<PersistentVolumeClaim>,
  context: LabelContext,
): Promise<string | undefined> {
  const isOwn = isOwnVolume(claim, context.blueprint, context.observed.world.memory);
  return isOwn ? await restoreLost(pvcObject(claim), context) : undefined;
}

/** Fails unless the API server has no usable PVC of the member. Caches may be late. */
export async function confirmVolumeIsLost(name: MemberName, context: LabelContext): Promise<void> {
  const found = await claimsOnServer(name, context);
  const claim = found.find((each) => each.metadata.deletionTimestamp === undefined && !isLost(each));
  if (claim === undefined) return;
  const restored = await restoreOwnVolumeLabels(claim, context);
  throw restored === undefined
    ? new Failure('conflict', `the PVC of ${name} exists`)
    : new ReportedFailure('rejected', restored);
}

/** Checks the verdict QuorumLost with the API server: pods and PVCs without labels are missing in the caches. */
export async function confirmQuorumLoss(
  verdict: Verdict,
  observed: Observed,
  controller: ControllerContext,
): Promise<Verdict> {
  if (verdict.is !== 'wait' || verdict.reason !== 'QuorumLost') return verdict;
  const { world, blueprint } = observed;
  const writer = controller.writer(keyOf(blueprint.intent));
  const context = { blueprint, observed, controller, writer, signal: AbortSignal.timeout(30_000) };
  const checks = knownVoters(world).map((name) => restoreHidden(name, world, context));
  const [first] = (await Promise.all(checks)).flatMap((message) => message ?? []);
  if (first === undefined) return verdict;
  return waitForUser('NoContact', first); // a restored label causes a watch event, so the next check may be late
}

async function restoreHidden(
  name: MemberName,
  world: ClusterWorld,
  context: LabelContext,
): Promise<string | undefined> {
  const memberPod = memberPodNamed(world, name);
  if (memberPod !== undefined && memberPod.volume !== 'lost') return undefined;
  const podCheck = memberPod === undefined ? confirmAbsence(name, context) : Promise.resolve();
  return await podCheck
    .then(() => restoreVolumes(name, context))
    .catch((thrown: unknown) => Failure.from(thrown).message);
}

/** Restores the labels of uncached PVCs of a member. Returns the message about the first restored PVC. */
async function restoreVolumes(name: MemberName, context: LabelContext): Promise<string | undefined> {
  for (const claim of await claimsOnServer(name, context)) {
    const message = await restoreOwnVolumeLabels(claim, context);
    if (message !== undefined) return message;
  }
  return undefined;
}
