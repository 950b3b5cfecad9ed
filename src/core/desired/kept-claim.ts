import { memberOfClaim } from '../model/claim-names.ts';
import type { CarrierName } from '../model/names.ts';
import type { Naming } from '../model/template.ts';
import type { Blueprint } from './manifest.ts';

type Texts = Readonly<Record<string, string>>;

interface Marked {
  readonly name: string;
  readonly labels?: Texts | undefined;
  readonly annotations?: Texts | undefined;
  readonly ownerReferences?: readonly { readonly uid: string }[] | undefined;
}

/** On a PVC in place of the label that names its member: the member that was removed. */
const removedMemberLabel = ({ prefix }: Pick<Naming, 'prefix'>): string => `${prefix}/removed-member`;
/** On such a PVC: when its member was removed. */
export const removedAtAnnotation = ({ prefix }: Pick<Naming, 'prefix'>): string => `${prefix}/removed-at`;
/** On such a PVC: the cluster whose member it was, by its uid. */
const removedFromAnnotation = ({ prefix }: Naming): string => `${prefix}/removed-from`;

/** Whether a PVC is that of a removed member. Either mark is enough: such a PVC is never the disk of a member again. */
export const isKept = ({ labels = {}, annotations = {} }: Omit<Marked, 'name'>, naming: Pick<Naming, 'prefix'>) =>
  labels[removedMemberLabel(naming)] !== undefined || annotations[removedAtAnnotation(naming)] !== undefined;

/** Whether it was a member of this cluster: a PVC that a deleted cluster of the name has left is a person's to delete. */
export const isKeptBy = (metadata: Marked, { naming, intent }: Pick<Blueprint, 'naming' | 'intent'>): boolean =>
  isKept(metadata, naming) &&
  (metadata.ownerReferences?.some(({ uid }) => uid === intent.uid) ||
    (!metadata.ownerReferences?.length && metadata.annotations?.[removedFromAnnotation(naming)] === intent.uid));

export const removedMemberOf = ({ name, labels = {} }: Marked, naming: Naming): CarrierName =>
  (labels[removedMemberLabel(naming)] as CarrierName | undefined) ?? memberOfClaim(name);

/** The owner of a cluster's PVCs, where they go with it. */
export const ownersOf = ({ owner, disksOutlive }: Pick<Blueprint, 'owner' | 'disksOutlive'>) =>
  disksOutlive ? [] : [owner];

/** What a PVC says from the moment its member is no more. */
export const keptMetadata = (member: CarrierName, blueprint: Blueprint, now: Date) => ({
  labels: { [blueprint.naming.memberLabel]: null, [removedMemberLabel(blueprint.naming)]: member },
  annotations: {
    [removedAtAnnotation(blueprint.naming)]: now.toISOString().replace(/\.\d+Z$/, 'Z'),
    [removedFromAnnotation(blueprint.naming)]: blueprint.intent.uid,
  },
  ownerReferences: ownersOf(blueprint),
});
