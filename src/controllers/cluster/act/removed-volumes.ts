import type { MemberName } from '../../../core/cluster/model/names.ts';
import { type KeptVolume, untilOf } from '../../../core/cluster/model/removed-volumes.ts';
import type { Step } from '../../../core/cluster/plan/step.ts';
import { isRemovedFrom, removedMetadata } from '../../../core/manifests/removed-pvc.ts';
import { keyOf, type PersistentVolumeClaim, type Pod, type Stored } from '../../../kube/object.ts';
import { persistentVolumeClaims, pods } from '../../../kube/resource.ts';
import { Failure, unless } from '../../../std/failure.ts';
import { isLost } from '../observe/members.ts';
import { identityOf, mounts } from '../observe/removed-volumes.ts';
import { getLive, type StepContext } from './step-context.ts';

type Claim = Stored<PersistentVolumeClaim>;

/** Keeps the PVC of a removed member if it holds data and the spec asks for that; deletes it otherwise. */
export async function keepOrDelete(claim: Claim, member: MemberName, context: StepContext): Promise<void> {
  const { writer, signal, blueprint } = context;
  const { uid, resourceVersion, namespace, name } = claim.metadata;
  const isWorthKeeping = claim.status?.phase !== 'Pending' && !isLost(claim) && !claim.metadata.deletionTimestamp;
  if (!isWorthKeeping || blueprint.intent.keepVolumesSeconds === 0) {
    const removal = writer.remove(persistentVolumeClaims, { namespace, name }, { preconditions: { uid }, signal });
    return await unless('not-found', removal, undefined);
  }
  const metadata = { uid, resourceVersion, ...removedMetadata(member, blueprint, context.controller.now()) };
  await writer.patch(persistentVolumeClaims, { namespace, name }, { type: 'merge', body: { metadata }, signal });
  recordKeptVolume(member, name, context);
}

function recordKeptVolume(member: MemberName, claim: string, context: StepContext): void {
  const now = context.controller.now().getTime();
  const until = untilOf({ removedAt: now } as KeptVolume, context.blueprint.intent) ?? now;
  const time = new Date(until).toISOString().replace(/\.\d+Z$/, 'Z');
  recordVolumeEvent(
    `PersistentVolumeClaim ${claim} of removed member ${member} is kept until ${time}: delete it to free the space earlier, ` +
      'or raise spec.keepRemovedVolumesSeconds to keep it longer',
    context,
  );
}

function recordVolumeEvent(message: string, { blueprint: { intent }, controller }: StepContext): void {
  const object = controller.caches.clusters.get(keyOf(intent));
  if (object !== undefined) controller.recordEvent(object, { type: 'Normal', reason: 'VolumeKept', message });
}

/** Deletes a kept PVC, after a check with the API server that it is unchanged and that no pod mounts it. */
export async function deleteVolume(
  step: Extract<Step, { kind: 'delete-volume' }>,
  context: StepContext,
): Promise<void> {
  const { blueprint, controller, writer, signal } = context;
  const { namespace } = blueprint.intent;
  const at = { namespace, name: step.claim };
  const there = await getLive(persistentVolumeClaims, step.claim, context);
  if (there === undefined) return;
  const { uid, resourceVersion } = there.metadata;
  const seen = controller.caches.claims.get(keyOf(at))?.metadata;
  const isSame = uid === step.uid && seen?.uid === uid && seen.resourceVersion === resourceVersion;
  if (!isSame || !isRemovedFrom(there.metadata, blueprint))
    throw new Failure('conflict', `PersistentVolumeClaim ${step.claim} has changed since its deletion was planned`);
  await confirmUnmounted(there, context);
  const preconditions = { uid, resourceVersion };
  await unless('not-found', writer.remove(persistentVolumeClaims, at, { preconditions, signal }), undefined);
}

/** A pod of a user may mount the PVC to save its data. Then the time that the PVC is kept starts again. */
async function confirmUnmounted(claim: Claim, context: StepContext): Promise<void> {
  const { controller, blueprint, signal } = context;
  const { namespace } = blueprint.intent;
  const { name } = claim.metadata;
  const { items } = await controller.list(pods, { namespace, signal });
  const isOver = ({ status }: Stored<Pod>): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';
  const user = items.find((pod) => mounts(pod, name) && !isOver(pod));
  if (user === undefined) return;
  controller.watched?.restart(keyOf(blueprint.intent), identityOf(claim, blueprint));
  const message = `PersistentVolumeClaim ${name} of a removed member is mounted by pod ${user.metadata.name}: the claim is kept until no pod mounts it`;
  recordVolumeEvent(message, context);
  throw new Failure('conflict', message);
}
