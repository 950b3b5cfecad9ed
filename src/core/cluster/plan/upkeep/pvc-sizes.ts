import { cannotGrowAnnotation, storageOf } from '../../../manifests/pvc.ts';
import type { LiveClaim } from '../../model/live-objects.ts';
import type { UpkeepRule } from './world.ts';

/** Raises the storage request of PVCs that are smaller than the spec, while their members run. */
export const growPvcs: UpkeepRule = ({ blueprint, memory, live }) => {
  const storage = storageOf(blueprint.template);
  // the user has to decide which cluster owns the PVCs
  if (storage === undefined || memory.ambiguity !== undefined) return [];
  const annotation = cannotGrowAnnotation(blueprint.naming);
  const mayGrow = ({ object: { metadata }, hasVolume, isTooSmall }: LiveClaim): boolean =>
    hasVolume &&
    isTooSmall &&
    metadata.deletionTimestamp === undefined &&
    metadata.annotations?.[annotation] !== storage;
  return live.claims.filter(mayGrow).map(({ object: { metadata } }) => ({
    kind: 'grow-volume',
    claim: metadata.name,
    uid: metadata.uid,
    storage,
    refused: { [annotation]: storage },
    why: `PersistentVolumeClaim ${metadata.name} requests less storage than ${storage}`,
  }));
};
