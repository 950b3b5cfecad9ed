import { type Member, type MemberPod, memberPodNamed } from '../../../core/cluster/model/cluster.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import type { Step } from '../../../core/cluster/plan/step.ts';
import type { EtcdMember } from '../../../etcd/types.ts';
import type { Pod, Stored } from '../../../kube/object.ts';
import { pods } from '../../../kube/resource.ts';
import { Failure } from '../../../std/failure.ts';
import { isReady } from '../observe/readiness.ts';
import { confirmAbsence, confirmVolumeIsLost } from './live-checks.ts';
import { getLive, leaderOf, type StepContext } from './step-context.ts';

type Removal = Extract<Step, { kind: 'remove-member' }>;

/**
 * Checks with the API server and etcd, before a member is removed, that the observation is still valid. Caches may be
 * late.
 */
export async function confirmRemoval({ id, name, because }: Removal, context: StepContext): Promise<void> {
  if (because === 'dead') await confirmLoss(name, context);
  const members = await leaderOf(context).memberList(context);
  const { membership } = context.observed.world;
  const planned = membership.seen ? membership.value.members : [];
  const isSame = members.length === planned.length && members.every((each) => isKnown(each, planned));
  if (members.some((each) => each.id === id) && !isSame)
    throw new Failure('conflict', `the member list has changed since the removal of ${name} was planned`);
}

/** A learner that was promoted since the plan changes the quorum. */
const isKnown = ({ id, isLearner }: EtcdMember, planned: readonly Member[]): boolean =>
  planned.some((known) => known.id === id && (known.role === 'learner') === isLearner);

async function confirmLoss(name: MemberName, context: StepContext): Promise<void> {
  const memberPod = memberPodNamed(context.observed.world, name);
  if (memberPod !== undefined && memberPod.volume !== 'lost') return confirmDown(memberPod, context);
  if (memberPod === undefined) await confirmAbsence(name, context);
  await confirmVolumeIsLost(name, context);
}

async function confirmDown(memberPod: MemberPod, context: StepContext): Promise<void> {
  const at = context.observed.podWith(memberPod.uid)?.metadata.name ?? memberPod.name;
  const change = changeSince(await getLive(pods, at, context), memberPod);
  if (change !== undefined) throw new Failure('conflict', `the pod of ${memberPod.name} is ${change}`);
}

/** How a pod differs from the observed unready pod. A pod that was deleted since is started again on its own volume. */
function changeSince(pod: Stored<Pod> | undefined, { uid, phase, volume }: MemberPod): string | undefined {
  if (pod === undefined) return phase !== 'gone' && volume === 'own' ? 'gone, and its volume exists' : undefined;
  if (pod.metadata.uid !== uid) return 'another pod now';
  return isReady(pod) && pod.metadata.deletionTimestamp === undefined ? 'ready now' : undefined;
}
