import type { UpkeepStep } from '../../../../core/cluster/plan/upkeep/step.ts';
import { persistentVolumeClaims } from '../../../../kube/resource.ts';
import { Failure } from '../../../../std/failure.ts';
import type { UpkeepContext } from './context.ts';

type Of<Kind extends UpkeepStep['kind']> = Extract<UpkeepStep, { kind: Kind }>;

export async function ownVolume(step: Of<'own-volume'>, { cluster, writer }: UpkeepContext): Promise<void> {
  const at = { namespace: cluster.namespace, name: step.claim };
  await writer.patch(persistentVolumeClaims, at, { type: 'merge', body: { metadata: step.metadata } });
}

/**
 * If the StorageClass allows no expansion, the PVC is annotated, and its member is replaced on a larger volume. Any
 * other refusal (a quota, a LimitRange, a policy) is reported and retried.
 */
export async function growVolume(step: Of<'grow-volume'>, { cluster, writer }: UpkeepContext): Promise<void> {
  const { claim, uid, storage, refused: annotations } = step;
  const at = { namespace: cluster.namespace, name: claim };
  const body = { metadata: { uid }, spec: { resources: { requests: { storage } } } };
  await writer.patch(persistentVolumeClaims, at, { type: 'merge', body }).catch((thrown: unknown) => {
    if (!isPermanent(Failure.from(thrown))) throw thrown;
    return writer.patch(persistentVolumeClaims, at, { type: 'merge', body: { metadata: { uid, annotations } } });
  });
}

/**
 * The error of the admission plugin PersistentVolumeClaimResize if the StorageClass is missing or lacks
 * `allowVolumeExpansion`. All other refusals may be temporary. A quota without room for a larger PVC has no room for a
 * second PVC either.
 */
const isPermanent = ({ kind, message }: Failure): boolean =>
  kind === 'forbidden' && message.includes('only dynamically provisioned pvc can be resized');
