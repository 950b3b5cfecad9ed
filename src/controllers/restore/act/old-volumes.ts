import { memberOfClaim } from '../../../core/cluster/model/pvc-names.ts';
import { removedMetadata } from '../../../core/manifests/removed-pvc.ts';
import type { ObjectRef } from '../../../core/restore/model.ts';
import { persistentVolumeClaims } from '../../../kube/resource.ts';
import { unless } from '../../../std/failure.ts';
import { labelsOf } from '../pods-and-pvcs.ts';
import type { RestoreStepContext } from './perform.ts';

/**
 * Makes the restore the owner of PVCs of old members: they are deleted with the restore unless their owner changes
 * first. The cluster labels stay, so that new members get other names. The member label goes, so that the cluster does
 * not use the PVC.
 */
export async function setAside(
  claims: readonly ObjectRef[],
  { read, target, controller, writer }: RestoreStepContext,
): Promise<void> {
  const { memberLabel } = target.read.blueprint.naming;
  for (const { name, uid } of claims) {
    const metadata = { uid, labels: { [memberLabel]: null, ...labelsOf(controller) }, ownerReferences: [read.owner] };
    const at = { namespace: read.intent.namespace, name };
    await writer.patch(persistentVolumeClaims, at, { type: 'merge', body: { metadata } });
  }
}

/**
 * Gives PVCs of old members back to the cluster as PVCs of removed members, which its controller keeps as the spec
 * says.
 */
export async function keepOld(
  claims: readonly ObjectRef[],
  { read, target, controller, writer }: RestoreStepContext,
): Promise<void> {
  const { blueprint } = target.read;
  const removed = Object.fromEntries(Object.keys(labelsOf(controller)).map((label) => [label, null]));
  for (const { name, uid } of claims) {
    const kept = removedMetadata(memberOfClaim(name), blueprint, controller.now());
    const labels = { ...removed, ...blueprint.naming.clusterLabels, ...kept.labels };
    const at = { namespace: read.intent.namespace, name };
    const body = { metadata: { uid, ...kept, labels } };
    await unless('not-found', writer.patch(persistentVolumeClaims, at, { type: 'merge', body }), undefined);
  }
}
