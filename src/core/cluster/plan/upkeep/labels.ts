import { isOwnedBy } from '../../../../std/owner.ts';
import type { Blueprint } from '../../../manifests/manifest.ts';
import { volumeRecordIn } from '../../../manifests/pvc.ts';
import { isOfRemovedMember } from '../../../manifests/removed-pvc.ts';
import type { Memory } from '../../model/cluster.ts';
import type { LiveObject, MemberObject, UnreadObject } from '../../model/live-objects.ts';
import { problem, type UpkeepStep } from './step.ts';
import type { UpkeepRule } from './world.ts';

/**
 * Restores lost labels of pods and PVCs. Services select pods by labels, and caches show PVCs by labels. A member
 * without labels stays healthy until the next change, so labels are restored before each step.
 */
export const keepLabels: UpkeepRule = ({ live, blueprint, hidden = [] }) => {
  const isHidden = (each: MemberObject | UnreadObject): boolean =>
    'object' in each && hidden.some(({ lost }) => lost?.object.metadata.uid === each.object.metadata.uid);
  return live.memberObjects.filter((each) => !isHidden(each)).flatMap((each) => keep(each, blueprint));
};

/** Restores the labels of pods and PVCs that no cache shows. */
export const restoreHidden: UpkeepRule = ({ hidden = [], blueprint }) =>
  hidden.flatMap(({ lost }) => (lost === undefined ? [] : keep(lost, blueprint)));

const keep = (each: MemberObject | UnreadObject, blueprint: Blueprint): UpkeepStep | readonly UpkeepStep[] =>
  'unread' in each ? problem('labels', each.unread) : (lostLabels(each, blueprint) ?? []);

type Restore = Extract<UpkeepStep, { kind: 'restore-labels' }>;

/** The step that restores the lost labels of a pod or PVC; undefined if no label is lost. */
export function lostLabels(
  { of, object, member }: MemberObject,
  { naming }: Pick<Blueprint, 'naming'>,
): Restore | undefined {
  const { name, uid, labels: existing = {} } = object.metadata;
  const wanted = Object.entries({ ...naming.clusterLabels, [naming.memberLabel]: member });
  const lost = wanted.filter(([label, value]) => existing[label] !== value);
  if (lost.length === 0) return undefined;
  const labels = lost.map((each) => each.join('=')).join(', ');
  const why = `${of} ${name} had lost labels (${labels})`;
  return { kind: 'restore-labels', of, name, uid, labels: Object.fromEntries(lost), why };
}

/** True if a PVC that no cache shows belongs to the cluster. A PVC that a restore has set aside has another owner. */
export function isOwnVolume(
  volume: LiveObject,
  { naming, intent }: Pick<Blueprint, 'naming' | 'intent'>,
  { clusterId }: Pick<Memory, 'clusterId'>,
): boolean {
  const { deletionTimestamp, ownerReferences = [], annotations = {} } = volume.metadata;
  if (deletionTimestamp !== undefined || isOfRemovedMember(volume.metadata, naming)) return false;
  if (ownerReferences.length > 0) return isOwnedBy(volume, intent.uid);
  const identity = volumeRecordIn(annotations, naming);
  return identity !== undefined && identity.clusterId === clusterId;
}
