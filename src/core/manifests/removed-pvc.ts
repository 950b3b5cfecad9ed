import type { MemberName } from '../cluster/model/names.ts';
import { memberOfClaim } from '../cluster/model/pvc-names.ts';
import type { Naming } from '../cluster/model/template.ts';
import type { Blueprint } from './manifest.ts';

type StringMap = Readonly<Record<string, string>>;

interface PvcMetadata {
  readonly name: string;
  readonly labels?: StringMap | undefined;
  readonly annotations?: StringMap | undefined;
  readonly ownerReferences?: readonly { readonly uid: string }[] | undefined;
}

/** On the PVC of a removed member: the member, in place of the usual member label. */
const removedMemberLabel = ({ prefix }: Pick<Naming, 'prefix'>): string => `${prefix}/removed-member`;
/** On the PVC of a removed member: the time of the removal. */
export const removedAtAnnotation = ({ prefix }: Pick<Naming, 'prefix'>): string => `${prefix}/removed-at`;
/** On the PVC of a removed member: the UID of its cluster. */
const removedFromAnnotation = ({ prefix }: Naming): string => `${prefix}/removed-from`;

/** True if a PVC belongs to a removed member, by its label or its annotation. No member uses such a PVC again. */
export const isOfRemovedMember = (
  { labels = {}, annotations = {} }: Omit<PvcMetadata, 'name'>,
  naming: Pick<Naming, 'prefix'>,
) => labels[removedMemberLabel(naming)] !== undefined || annotations[removedAtAnnotation(naming)] !== undefined;

/**
 * True if the removed member was part of this cluster. PVCs of a deleted cluster of the same name are left to the user.
 */
export const isRemovedFrom = (
  metadata: PvcMetadata,
  { naming, intent }: Pick<Blueprint, 'naming' | 'intent'>,
): boolean =>
  isOfRemovedMember(metadata, naming) &&
  (metadata.ownerReferences?.some(({ uid }) => uid === intent.uid) ||
    (!metadata.ownerReferences?.length && metadata.annotations?.[removedFromAnnotation(naming)] === intent.uid));

export const removedMemberOf = ({ name, labels = {} }: PvcMetadata, naming: Naming): MemberName =>
  (labels[removedMemberLabel(naming)] as MemberName | undefined) ?? memberOfClaim(name);

/** The owner references of PVCs; none if PVCs outlive the cluster. */
export const ownersOf = ({ owner, volumesOutlive }: Pick<Blueprint, 'owner' | 'volumesOutlive'>) =>
  volumesOutlive ? [] : [owner];

/** The metadata of a PVC after the removal of its member. */
export const removedMetadata = (member: MemberName, blueprint: Blueprint, now: Date) => ({
  labels: { [blueprint.naming.memberLabel]: null, [removedMemberLabel(blueprint.naming)]: member },
  annotations: {
    [removedAtAnnotation(blueprint.naming)]: now.toISOString().replace(/\.\d+Z$/, 'Z'),
    [removedFromAnnotation(blueprint.naming)]: blueprint.intent.uid,
  },
  ownerReferences: ownersOf(blueprint),
});
