import { cannotGrowAnnotation, claimAnnotation, claimMark, storageOf } from '../../core/desired/claim.ts';
import { isSealed } from '../../core/desired/initial-cluster.ts';
import { isLabelled } from '../../core/desired/labels.ts';
import type { Blueprint } from '../../core/desired/manifest.ts';
import { believesAnnotation, showsAnnotation, templateAnnotation } from '../../core/desired/pod.ts';
import { showsSecrets } from '../../core/desired/secret-volumes.ts';
import type { Carrier } from '../../core/model/cluster.ts';
import { rereadsCertificates } from '../../core/model/version.ts';
import type { PersistentVolumeClaim, Pod, Stored } from '../../kube/object.ts';

type Claim = Stored<PersistentVolumeClaim>;

interface Judged {
  readonly pod: Stored<Pod>;
  readonly claim: Claim | undefined;
  /** It cannot start. */
  readonly isStuck: boolean;
}

/** What a body is judged by: what the spec asks for, and the mark of it. */
export interface Standard {
  readonly blueprint: Blueprint;
  readonly mark: string;
}

/**
 * How a body differs from what the spec says today. Where it needs another disk, another member takes its place, and no
 * other pod matters; unless another pod is what lets it start, without which nobody takes anybody's place.
 */
export function driftOf(judged: Judged, standard: Standard): Carrier['drift'] {
  const ofPod = podDrift(judged.pod, standard);
  if (judged.isStuck && ofPod === 'pod') return ofPod;
  return diskDrift(judgedClaim(judged, standard.blueprint), standard.blueprint) ?? ofPod;
}

/** Who has not joined yet goes on with the volume it has: another body in its place would only stand on the same. */
const judgedClaim = ({ pod, claim }: Judged, { naming }: Blueprint): Claim | undefined =>
  isSealed(pod.metadata.annotations ?? {}, naming) || claim?.status?.phase === 'Pending' ? claim : undefined;

/** A claim that was deleted goes with its pod: another member takes the place of this one while it still serves. */
function diskDrift(claim: Claim | undefined, { naming, template }: Blueprint): 'disk' | undefined {
  if (claim === undefined) return undefined;
  if (claim.metadata.deletionTimestamp !== undefined) return 'disk';
  const isOfAnotherKind = kindOfDisk(claim, { naming, template }) !== claimMark(template);
  const isTooSmall = claim.metadata.annotations?.[cannotGrowAnnotation(naming)] === storageOf(template);
  return template.claim === undefined || isOfAnotherKind || isTooSmall ? 'disk' : undefined;
}

/** A claim without a mark was made by another, and is as good as what is asked for. */
export const kindOfDisk = (
  claim: Claim | undefined,
  { naming, template }: Pick<Blueprint, 'naming' | 'template'>,
): string | undefined => claim && (claim.metadata.annotations?.[claimAnnotation(naming)] ?? claimMark(template));

function podDrift({ metadata, spec }: Stored<Pod>, { blueprint, mark }: Standard): Carrier['drift'] {
  const { naming, template } = blueprint;
  if (!showsSecrets(spec?.volumes ?? [], template)) return 'pod';
  if (!isMadeSo(metadata.annotations ?? {}, { blueprint, mark })) return 'pod';
  return isLabelled(metadata, template, naming) ? 'none' : 'labels';
}

/** A pod without a mark was made before there were marks, and is left as it is. */
function isMadeSo(annotations: Readonly<Record<string, string>>, { blueprint, mark }: Standard): boolean {
  const { naming, template } = blueprint;
  const believed = template.kept?.believed;
  return (
    (annotations[templateAnnotation(naming)] ?? mark) === mark &&
    (believed === undefined || believedBy(annotations, blueprint) === believed) &&
    showsKept(annotations, blueprint)
  );
}

/** The authorities that it read when it started. It may have read newer ones since, when only its container started again. */
export const believedBy = (
  annotations: Readonly<Record<string, string>>,
  { naming, template }: Blueprint,
): string | undefined => annotations[believesAnnotation(naming)] ?? template.kept?.believedAtFirst;

/** An etcd that reads its certificate only when it starts has to start again for another. */
function showsKept(annotations: Readonly<Record<string, string>>, { naming, template: { kept } }: Blueprint): boolean {
  const shown = annotations[showsAnnotation(naming)];
  const isOld = !rereadsCertificates(annotations[naming.versionAnnotation] ?? '');
  return !isOld || kept === undefined || shown === undefined || shown === kept.shown;
}
