import type { ClusterWorld } from '../../../core/cluster/model/cluster.ts';
import type { KeptVolume } from '../../../core/cluster/model/removed-volumes.ts';
import type { Blueprint } from '../../../core/manifests/manifest.ts';
import {
  isOfRemovedMember,
  isRemovedFrom,
  removedAtAnnotation,
  removedMemberOf,
} from '../../../core/manifests/removed-pvc.ts';
import { keyOf, type PersistentVolumeClaim, type Pod, type Stored } from '../../../kube/object.ts';
import { type ControllerContext, clusterIndex, ownerIndex } from '../../shared/context.ts';
import { growingVolumes } from './growing-pvcs.ts';

type Claim = Stored<PersistentVolumeClaim>;

/** The kept PVCs of members that were removed from this cluster. */
export function keptClaimsOf(blueprint: Blueprint, { caches }: Pick<ControllerContext, 'caches'>): readonly Claim[] {
  const { namespace, name, uid } = blueprint.intent;
  const all = [...caches.claims.by(ownerIndex, namespace, uid), ...caches.claims.by(clusterIndex, namespace, name)];
  return [...new Set(all)].filter(({ metadata }) => isRemovedFrom(metadata, blueprint));
}

/** Volumes that are growing, and volumes of removed members. */
export const observeVolumes = (
  claims: readonly Claim[],
  blueprint: Blueprint,
  context: Pick<ControllerContext, 'caches' | 'watched'>,
): Pick<ClusterWorld, 'growingVolumes' | 'keptVolumes'> => ({
  growingVolumes: growingVolumes(claims, blueprint),
  keptVolumes: keptVolumesOf(blueprint, context),
});

/** Volumes of removed members, and how long this operator has watched each of them. */
export function keptVolumesOf(
  blueprint: Blueprint,
  context: Pick<ControllerContext, 'caches' | 'watched'>,
): readonly KeptVolume[] {
  const { intent, naming } = blueprint;
  const claims = keptClaimsOf(blueprint, context);
  const lasting = context.watched?.seeKept(
    keyOf(intent),
    claims.map((claim) => identityOf(claim, blueprint)),
  );
  const own = context.caches.pods.by(ownerIndex, intent.namespace, intent.uid);
  return claims.map((claim) => {
    const { name, uid, annotations = {}, deletionTimestamp } = claim.metadata;
    const removedAt = Date.parse(annotations[removedAtAnnotation(naming)] ?? '');
    return {
      claim: name,
      uid,
      member: removedMemberOf(claim.metadata, naming),
      removedAt: Number.isNaN(removedAt) ? undefined : removedAt,
      isMounted: own.some((pod) => mounts(pod, name)),
      isLeaving: deletionTimestamp !== undefined,
      watched: lasting?.get(identityOf(claim, blueprint)) ?? { millis: 0, observations: 0 },
    };
  });
}

/** The time that a PVC is watched starts again if the PVC is marked as removed again. */
export const identityOf = (claim: Claim, { naming }: Pick<Blueprint, 'naming'>): string =>
  [claim.metadata.uid, claim.metadata.annotations?.[removedAtAnnotation(naming)]].join('/');

export const mounts = ({ spec }: Stored<Pod>, claim: string): boolean =>
  spec?.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === claim) === true;

export const withoutKept = (claims: readonly Claim[], { naming }: Pick<Blueprint, 'naming'>): readonly Claim[] =>
  claims.filter(({ metadata }) => !isOfRemovedMember(metadata, naming));
