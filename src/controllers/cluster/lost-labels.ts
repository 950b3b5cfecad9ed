import { markIn } from '../../core/desired/claim.ts';
import { isKept } from '../../core/desired/kept-claim.ts';
import type { Reason } from '../../core/reasons.ts';
import { type KubeObject, keyOf, type PersistentVolumeClaim, type Pod, type Stored } from '../../kube/object.ts';
import { persistentVolumeClaims, pods, type Resource } from '../../kube/resource.ts';
import { Failure } from '../../std/failure.ts';
import { claimNameOf, isForeign, isOwnedBy, nameOfBody } from './carriers.ts';
import { claimsOf } from './claims-of.ts';
import { type Deed, lookUp } from './deed.ts';
import { memberIn } from './member-claim.ts';
import { ownerIndex } from './sources.ts';
import { ToldFailure } from './trouble.ts';

export type Asking = Pick<Deed, 'blueprint' | 'observed' | 'tools' | 'writer' | 'signal'>;

/** A part of a member's body, and where such parts are. */
interface Part<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly object: Stored<T>;
  readonly member: string;
}

export const podPart = (pod: Stored<Pod>): Part<Pod> => ({ resource: pods, object: pod, member: nameOfBody(pod) });

const diskPart = (claim: Stored<PersistentVolumeClaim>): Part<PersistentVolumeClaim> => ({
  resource: persistentVolumeClaims,
  object: claim,
  member: memberIn(claim),
});

/** Gives it back the labels that it has lost, and says which; nothing where it has them all. */
export async function giveLabelsBack<T extends KubeObject>(
  { resource, object: { metadata }, member }: Part<T>,
  asking: Asking,
): Promise<string | undefined> {
  const { uid, name, labels: there = {} } = metadata;
  const { clusterLabels, memberLabel } = asking.blueprint.naming;
  const wanted = Object.entries({ ...clusterLabels, [memberLabel]: member });
  const lost = wanted.filter(([label, value]) => there[label] !== value);
  if (lost.length === 0) return undefined;
  const labels = lost.map((each) => each.join('=')).join(', ');
  const says = `${resource.kind} ${name} had lost labels by which it is found (${labels})`;
  const body = { metadata: { uid, labels: Object.fromEntries(lost) } };
  const patching = asking.writer.patch(resource, metadata, { type: 'merge', body, signal: asking.signal });
  await patching.catch((thrown: unknown) => {
    const { kind, message } = Failure.from(thrown);
    if (kind !== 'rejected' && kind !== 'forbidden') throw thrown; // it is another by now, or there is none
    throw told('LabelsLost', `${says}, which cannot be put back: ${message}`, asking);
  });
  return told('LabelsLost', `${says}: they were put back`, asking).message;
}

export function told(reason: Reason, message: string, { blueprint: { intent }, tools }: Asking): ToldFailure {
  const object = tools.caches.clusters.get(keyOf(intent));
  if (object !== undefined) tools.tell(object, { type: 'Warning', reason, message });
  return new ToldFailure('rejected', message);
}

/**
 * Services and other members find a pod by labels, and we a disk. Who has lost them is healthy for as long as nothing moves,
 * and so nobody notices; so they are put back before anything does.
 */
export async function keepLabels(asking: Asking): Promise<void> {
  const { blueprint, tools } = asking;
  const own = tools.caches.pods
    .by(ownerIndex, blueprint.intent.namespace, blueprint.intent.uid)
    .filter((pod) => pod.metadata.deletionTimestamp === undefined && !isForeign(pod, blueprint));
  for (const pod of own) await giveLabelsBack(podPart(pod), asking);
  const claims = claimsOf(blueprint, tools.caches);
  for (const name of own.flatMap((pod) => claimNameOf(pod) ?? [])) {
    const claim = claims.find(({ metadata }) => metadata.name === name);
    await (claim === undefined ? revealDisk(name, asking) : giveLabelsBack(diskPart(claim), asking));
  }
}

/** Says what a disk had lost if there is one that copies do not show, with something on it, and it is this cluster's. */
export async function revealDisk(name: string, asking: Asking): Promise<string | undefined> {
  const claim = await lookUp(persistentVolumeClaims, name, asking);
  return claim === undefined ? undefined : await giveToOwnDisk(claim, asking);
}

/** The same, where the disk is at hand. */
export const giveToOwnDisk = async (
  claim: Stored<PersistentVolumeClaim>,
  asking: Asking,
): Promise<string | undefined> => (isOwnDisk(claim, asking) ? giveLabelsBack(diskPart(claim), asking) : undefined);

/** What a restore has set aside has another owner. */
function isOwnDisk({ metadata }: Stored<PersistentVolumeClaim>, { blueprint, observed }: Asking): boolean {
  const { deletionTimestamp, ownerReferences = [], annotations = {} } = metadata;
  if (deletionTimestamp !== undefined || isKept(metadata, blueprint.naming)) return false;
  if (ownerReferences.length > 0) return isOwnedBy(metadata, blueprint.intent.uid);
  const mark = markIn(annotations, blueprint.naming);
  return mark !== undefined && mark.clusterId === observed.world.memory.clusterId;
}
