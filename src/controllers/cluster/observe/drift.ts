import type { MemberPod } from '../../../core/cluster/model/cluster.ts';
import { rereadsCertificates } from '../../../core/cluster/model/version.ts';
import { isBootstrapForbidden } from '../../../core/manifests/initial-cluster.ts';
import { isLabelled } from '../../../core/manifests/labels.ts';
import type { Blueprint } from '../../../core/manifests/manifest.ts';
import { caHashAnnotation, certHashAnnotation, templateAnnotation } from '../../../core/manifests/pod.ts';
import { cannotGrowAnnotation, claimAnnotation, storageOf, volumeKindHash } from '../../../core/manifests/pvc.ts';
import { mapsCurrentKeys } from '../../../core/manifests/secret-volumes.ts';
import type { PersistentVolumeClaim, Pod, Stored } from '../../../kube/object.ts';

type Claim = Stored<PersistentVolumeClaim>;

interface Judged {
  readonly pod: Stored<Pod>;
  readonly claim: Claim | undefined;
  /** True if the pod cannot start. */
  readonly isStuck: boolean;
}

/** What a member pod is compared with: the blueprint of the spec, and the hash of its pod template. */
export interface Standard {
  readonly blueprint: Blueprint;
  readonly hash: string;
}

/**
 * How a member pod differs from the spec. A member that needs another volume is replaced, so its pod drift does not
 * matter. A stuck pod is recreated first, because an unhealthy cluster replaces no member.
 */
export function driftOf(judged: Judged, standard: Standard): MemberPod['drift'] {
  const ofPod = podDrift(judged.pod, standard);
  if (judged.isStuck && ofPod === 'pod') return ofPod;
  return volumeDrift(judgedClaim(judged, standard.blueprint), standard.blueprint) ?? ofPod;
}

/** A member that has not joined yet keeps its volume: a replacement would use the same PVC. */
const judgedClaim = ({ pod, claim }: Judged, { naming }: Blueprint): Claim | undefined =>
  isBootstrapForbidden(pod.metadata.annotations ?? {}, naming) || claim?.status?.phase === 'Pending'
    ? claim
    : undefined;

/** A deleted PVC goes with its pod, so the member is replaced while it still serves. */
function volumeDrift(claim: Claim | undefined, { naming, template }: Blueprint): 'volume' | undefined {
  if (claim === undefined) return undefined;
  if (claim.metadata.deletionTimestamp !== undefined) return 'volume';
  const isOfAnotherKind = kindOfVolume(claim, { naming, template }) !== volumeKindHash(template);
  const isTooSmall = claim.metadata.annotations?.[cannotGrowAnnotation(naming)] === storageOf(template);
  return template.claim === undefined || isOfAnotherKind || isTooSmall ? 'volume' : undefined;
}

/** A PVC without a hash was made by another operator, and counts as up to date. */
export const kindOfVolume = (
  claim: Claim | undefined,
  { naming, template }: Pick<Blueprint, 'naming' | 'template'>,
): string | undefined => claim && (claim.metadata.annotations?.[claimAnnotation(naming)] ?? volumeKindHash(template));

function podDrift({ metadata, spec }: Stored<Pod>, { blueprint, hash }: Standard): MemberPod['drift'] {
  const { naming, template } = blueprint;
  if (!mapsCurrentKeys(spec?.volumes ?? [], template)) return 'pod';
  if (!matchesTemplate(metadata.annotations ?? {}, { blueprint, hash })) return 'pod';
  return isLabelled(metadata, template, naming) ? 'none' : 'labels';
}

/** A pod without a hash was made by an older version, and counts as up to date. */
function matchesTemplate(annotations: Readonly<Record<string, string>>, { blueprint, hash }: Standard): boolean {
  const { naming, template } = blueprint;
  const caHash = template.memberSecret?.caHash;
  return (
    (annotations[templateAnnotation(naming)] ?? hash) === hash &&
    (caHash === undefined || caHashOf(annotations, blueprint) === caHash) &&
    hasStoredCertificate(annotations, blueprint)
  );
}

/** The hash of the CA bundle that the pod was started with. A restarted container may have read a newer bundle. */
export const caHashOf = (
  annotations: Readonly<Record<string, string>>,
  { naming, template }: Blueprint,
): string | undefined => annotations[caHashAnnotation(naming)] ?? template.memberSecret?.initialCaHash;

/** etcd before 3.2 reads its certificate only at its start, so a new certificate needs a new pod. */
function hasStoredCertificate(
  annotations: Readonly<Record<string, string>>,
  { naming, template: { memberSecret } }: Blueprint,
): boolean {
  const certHash = annotations[certHashAnnotation(naming)];
  const isOld = !rereadsCertificates(annotations[naming.versionAnnotation] ?? '');
  return !isOld || memberSecret === undefined || certHash === undefined || certHash === memberSecret.certHash;
}
