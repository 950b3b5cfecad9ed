import { isDeepStrictEqual } from 'node:util';
import {
  isKept,
  isKeptBy,
  keptMetadata,
  ownersOf,
  removedAtAnnotation,
  removedMemberOf,
} from '../../core/desired/kept-claim.ts';
import type { Blueprint } from '../../core/desired/manifest.ts';
import type { ClusterWorld } from '../../core/model/cluster.ts';
import { type KeptVolume, untilOf } from '../../core/model/kept-volumes.ts';
import type { CarrierName } from '../../core/model/names.ts';
import type { Step } from '../../core/plan/cluster/step.ts';
import { keyOf, type PersistentVolumeClaim, type Pod, type Stored } from '../../kube/object.ts';
import { persistentVolumeClaims, pods } from '../../kube/resource.ts';
import { Failure, unless } from '../../std/failure.ts';
import { isLost } from './carriers.ts';
import { type Deed, lookUp } from './deed.ts';
import { growingDisks } from './growing.ts';
import { clusterIndex, ownerIndex, type Tools } from './sources.ts';
import { inTurn } from './trouble.ts';
import type { Writer } from './writer.ts';

type Claim = Stored<PersistentVolumeClaim>;

/** The PVCs of members that were removed from this cluster. */
function keptClaimsOf(blueprint: Blueprint, { caches }: Pick<Tools, 'caches'>): readonly Claim[] {
  const { namespace, name, uid } = blueprint.intent;
  const all = [...caches.claims.by(ownerIndex, namespace, uid), ...caches.claims.by(clusterIndex, namespace, name)];
  return [...new Set(all)].filter(({ metadata }) => isKeptBy(metadata, blueprint));
}

/** Volumes that are about to change, or to go. */
export const volumesSeen = (
  claims: readonly Claim[],
  blueprint: Blueprint,
  tools: Pick<Tools, 'caches' | 'watched'>,
): Pick<ClusterWorld, 'growingDisks' | 'keptVolumes'> => ({
  growingDisks: growingDisks(claims, blueprint),
  keptVolumes: keptVolumesOf(blueprint, tools),
});

/** Volumes of removed members, and how long this operator has watched each of them. */
export function keptVolumesOf(blueprint: Blueprint, tools: Pick<Tools, 'caches' | 'watched'>): readonly KeptVolume[] {
  const { intent, naming } = blueprint;
  const claims = keptClaimsOf(blueprint, tools);
  const lasting = tools.watched?.seeKept(
    keyOf(intent),
    claims.map((claim) => identityOf(claim, blueprint)),
  );
  const own = tools.caches.pods.by(ownerIndex, intent.namespace, intent.uid);
  return claims.map((claim) => {
    const { name, uid, annotations = {}, deletionTimestamp } = claim.metadata;
    const removedAt = Date.parse(annotations[removedAtAnnotation(naming)] ?? '');
    return {
      ...{ claim: name, uid, member: removedMemberOf(claim.metadata, naming) },
      removedAt: Number.isNaN(removedAt) ? undefined : removedAt,
      isMounted: own.some((pod) => mounts(pod, name)),
      isLeaving: deletionTimestamp !== undefined,
      watched: lasting?.get(identityOf(claim, blueprint)) ?? { millis: 0, looks: 0 },
    };
  });
}

/** One that is marked anew is watched anew. */
const identityOf = (claim: Claim, { naming }: Pick<Blueprint, 'naming'>): string =>
  [claim.metadata.uid, claim.metadata.annotations?.[removedAtAnnotation(naming)]].join('/');

const mounts = ({ spec }: Stored<Pod>, claim: string): boolean =>
  spec?.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === claim) === true;

/** The volume of a member that was removed: kept where it holds anything and the spec says so, or else deleted. */
export async function keepOrDelete(claim: Claim, member: CarrierName, deed: Deed): Promise<void> {
  const { writer, signal, blueprint } = deed;
  const { uid, resourceVersion, namespace, name } = claim.metadata;
  const isWorthKeeping = claim.status?.phase !== 'Pending' && !isLost(claim) && !claim.metadata.deletionTimestamp;
  if (!isWorthKeeping || blueprint.intent.keepVolumesSeconds === 0) {
    const removal = writer.remove(persistentVolumeClaims, { namespace, name }, { preconditions: { uid }, signal });
    return await unless('not-found', removal, undefined);
  }
  const metadata = { uid, resourceVersion, ...keptMetadata(member, blueprint, deed.tools.now()) };
  await writer.patch(persistentVolumeClaims, { namespace, name }, { type: 'merge', body: { metadata }, signal });
  tellKept(member, name, deed);
}

function tellKept(member: CarrierName, claim: string, deed: Deed): void {
  const now = deed.tools.now().getTime();
  const until = untilOf({ removedAt: now } as KeptVolume, deed.blueprint.intent) ?? now;
  const time = new Date(until).toISOString().replace(/\.\d+Z$/, 'Z');
  tell(
    `PersistentVolumeClaim ${claim} of removed member ${member} is kept until ${time}: delete it to free the space earlier, ` +
      'or raise spec.keepRemovedVolumesSeconds to keep it longer',
    deed,
  );
}

function tell(message: string, { blueprint: { intent }, tools }: Deed): void {
  const object = tools.caches.clusters.get(keyOf(intent));
  if (object !== undefined) tools.tell(object, { type: 'Normal', reason: 'VolumeKept', message });
}

/** Before it goes, the API server itself is asked whether it is what was seen, and whether any pod mounts it. */
export async function deleteVolume(step: Extract<Step, { kind: 'delete-volume' }>, deed: Deed): Promise<void> {
  const { blueprint, tools, writer, signal } = deed;
  const { namespace } = blueprint.intent;
  const at = { namespace, name: step.claim };
  const there = await lookUp(persistentVolumeClaims, step.claim, deed);
  if (there === undefined) return;
  const { uid, resourceVersion } = there.metadata;
  const seen = tools.caches.claims.get(keyOf(at))?.metadata;
  const isSame = uid === step.uid && seen?.uid === uid && seen.resourceVersion === resourceVersion;
  if (!isSame || !isKeptBy(there.metadata, blueprint))
    throw new Failure('conflict', `PersistentVolumeClaim ${step.claim} has changed since its deletion was planned`);
  await confirmUnmounted(there, deed);
  const preconditions = { uid, resourceVersion };
  await unless('not-found', writer.remove(persistentVolumeClaims, at, { preconditions, signal }), undefined);
}

/** A pod without any label of ours may mount it, to save what is on it. Then its watch begins anew. */
async function confirmUnmounted(claim: Claim, deed: Deed): Promise<void> {
  const { tools, blueprint, signal } = deed;
  const { namespace } = blueprint.intent;
  const { name } = claim.metadata;
  const { items } = await tools.list(pods, { namespace, signal });
  const isOver = ({ status }: Stored<Pod>): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';
  const user = items.find((pod) => mounts(pod, name) && !isOver(pod));
  if (user === undefined) return;
  tools.watched?.startAgain(keyOf(blueprint.intent), identityOf(claim, blueprint));
  const says = `PersistentVolumeClaim ${name} of a removed member is mounted by pod ${user.metadata.name}: it is kept until no pod mounts it`;
  tell(says, deed);
  throw new Failure('conflict', says);
}

interface Keeping {
  readonly caches: Tools['caches'];
  readonly writer: Writer;
}

/** Kept volumes go or stay with their cluster as those of members do, as the spec says by now. */
export async function ownKeptClaims(blueprint: Blueprint, { caches, writer }: Keeping): Promise<void> {
  const ownerReferences = ownersOf(blueprint);
  await inTurn(keptClaimsOf(blueprint, { caches }), async ({ metadata }) => {
    const { uid, resourceVersion, namespace, name, deletionTimestamp, ownerReferences: there = [] } = metadata;
    if (deletionTimestamp !== undefined || isDeepStrictEqual(there, ownerReferences)) return;
    const body = { metadata: { uid, resourceVersion, ownerReferences } };
    await writer.patch(persistentVolumeClaims, { namespace, name }, { type: 'merge', body });
  });
}

export const withoutKept = (claims: readonly Claim[], { naming }: Pick<Blueprint, 'naming'>): readonly Claim[] =>
  claims.filter(({ metadata }) => !isKept(metadata, naming));
