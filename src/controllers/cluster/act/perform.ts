import { memberPodNamed } from '../../../core/cluster/model/cluster.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import { minorOf } from '../../../core/cluster/model/version.ts';
import type { MemberStep, Step } from '../../../core/cluster/plan/step.ts';
import { isUpkeep } from '../../../core/cluster/plan/upkeep/step.ts';
import { annotationsOf, bootstrapForbidden } from '../../../core/manifests/initial-cluster.ts';
import type { Blueprint, Manifest } from '../../../core/manifests/manifest.ts';
import { type MemberPodInput, memberPodManifest } from '../../../core/manifests/pod.ts';
import { memberClaim, peerSchemeAnnotation, reusedAnnotation, schemeIn, userOn } from '../../../core/manifests/pvc.ts';
import { tlsModeForScheme } from '../../../core/manifests/tls-mode.ts';
import { isRefusal } from '../../../etcd/errors.ts';
import type { EtcdMember } from '../../../etcd/types.ts';
import { ApiFailure, isAlreadyExists } from '../../../kube/errors.ts';
import type { PersistentVolumeClaim, Stored } from '../../../kube/object.ts';
import { pods } from '../../../kube/resource.ts';
import { Failure, unless } from '../../../std/failure.ts';
import { claimNameFor, claimOfMember, memberIn } from '../observe/member-pvc.ts';
import { claimsOf, isForeignPvc } from '../observe/pvcs.ts';
import { adopt } from './adopt.ts';
import { performCertificateStep } from './certificates.ts';
import { confirmRemoval } from './confirm-death.ts';
import { createPvc } from './create-pvc.ts';
import { confirmDomain, confirmHost } from './dns-check.ts';
import { confirmAbsence } from './live-checks.ts';
import { makeBackup } from './make-backup.ts';
import { annotatePvc, annotateVersion, changeImage, relabelMemberPod, snapshotCountFor } from './patch-pod.ts';
import { deleteVolume, keepOrDelete } from './removed-volumes.ts';
import { deleteSecrets } from './secrets.ts';
import { confirmLeads, confirmUnanswered, leaderOf, podWith, type StepContext, upkeepContext } from './step-context.ts';
import { createPeer, deletePeer } from './upkeep/peers.ts';
import { performUpkeep } from './upkeep/perform-upkeep.ts';

type Performers = {
  readonly [K in MemberStep['kind']]: (step: Extract<MemberStep, { kind: K }>, context: StepContext) => Promise<void>;
};

/** Memory is part of the status, which is written at the end of the pass. */
const nothing = async (): Promise<void> => {};

/** The function of each kind of step. A new kind does not compile without a function here. */
const performers: Performers = {
  'record-bootstrap': nothing,
  'record-formation': nothing,
  'release-member-pod': adopt,
  'adopt-member-pod': adopt,
  'issue-certificates': performCertificateStep,
  'stage-certificates': performCertificateStep,
  'drop-secrets': deleteSecrets,
  'start-member-pod': startMemberPod,
  'forbid-rebootstrap': forbidRebootstrapOf,
  'stop-member-pod': stopMemberPod,
  'delete-member-pod': deleteMemberPod,
  'delete-volume': deleteVolume,
  'change-image': changeImage,
  'make-backup': makeBackup,
  'relabel-member-pod': relabelMemberPod,
  'add-member': addMember,
  'promote-member': promoteMember,
  'remove-member': removeMember,
  'update-peer-url': updatePeerURL,
  'transfer-leadership': ({ id }, context) => leaderOf(context).moveLeader(id, context),
  'cancel-downgrade': async (_, context) => void (await leaderOf(context).downgrade('cancel', '', context)),
  'enable-downgrade': async ({ version }, context) =>
    void (await leaderOf(context).downgrade('enable', minorOf(version), context)),
};

/**
 * Performs one step. Fails if this operator no longer leads: after a pause of the process another operator may take
 * steps, and two disruptions at once may cost quorum.
 */
export async function perform(step: Step, context: StepContext): Promise<void> {
  confirmLeads(context.controller);
  if (isUpkeep(step)) return performUpkeep(step, upkeepContext(context));
  const { unreadSecret } = context.observed;
  if (unreadSecret !== undefined && needsSecrets.has(step.kind)) throw new ApiFailure('unreachable', unreadSecret);
  await (performers[step.kind] as (step: MemberStep, context: StepContext) => Promise<void>)(step, context);
}

/** Steps that are not taken while a mounted Secret cannot be read. A stopped pod could not be started again. */
const needsSecrets: ReadonlySet<MemberStep['kind']> = new Set(['start-member-pod', 'stop-member-pod']);

async function startMemberPod(input: MemberPodInput, context: StepContext): Promise<void> {
  await createPeer(input, context.peers);
  const { name, version } = input;
  const claim = claimNameFor(name, context);
  const wanted = memberClaim(context.blueprint, name, version);
  if (wanted !== undefined && input.join.as !== 'restarting') await createPvc(named(wanted, claim), context);
  const snapshotCount = snapshotCountFor(input, context);
  if (isReuse(input, context))
    await annotatePvc(name, { [reusedAnnotation(context.blueprint.naming)]: 'true' }, context);
  await annotateVersion(name, { version, snapshotCount }, context);
  const pod = memberPodManifest(blueprintOf(input, context), {
    ...input,
    claim,
    user: userOf(name, context),
    snapshotCount,
  });
  await context.writer.create(pods, pod as never, context).catch(async (thrown: unknown) => {
    if (isAlreadyExists(thrown)) await confirmAbsence(name, context);
    throw thrown;
  });
}

/** True if a bootstrap member starts on a PVC on which an earlier pod may have run. */
const isReuse = ({ name, join }: MemberPodInput, { observed }: StepContext): boolean =>
  join.as === 'bootstrap' && memberPodNamed(observed.world, name)?.mayHaveData === true;

const named = (wanted: Manifest, name: string): Manifest => ({ ...wanted, metadata: { ...wanted.metadata, name } });

/** An adopted PVC keeps the UID that owns its files until the PVC is replaced. */
function userOf(name: MemberName, context: StepContext): number | undefined {
  const claim = claimOfMember(name, context);
  return claim === undefined ? undefined : userOn(claim.metadata.annotations ?? {}, context.blueprint.naming);
}

async function updatePeerURL(step: Extract<Step, { kind: 'update-peer-url' }>, context: StepContext): Promise<void> {
  const { intent, naming } = context.blueprint;
  const url = intent.peerURLOf(step.name);
  await confirmHost(listedURLOf(step.name, context) ?? '', url);
  await leaderOf(context).memberUpdate(step.id, [url], context);
  await annotatePvc(step.name, { [peerSchemeAnnotation(naming)]: schemeIn(url) }, context);
}

/** A restarted member keeps the peer URL registered in etcd. MemberUpdate changes it once the cluster is healthy. */
function blueprintOf({ name, join }: MemberPodInput, context: StepContext): Blueprint {
  const { blueprint, observed } = context;
  if (join.as !== 'restarting') return blueprint;
  const listed = listedURLOf(name, { observed });
  const claim = claimOfMember(name, context);
  const scheme =
    listed === undefined ? claim?.metadata.annotations?.[peerSchemeAnnotation(blueprint.naming)] : schemeIn(listed);
  return observed.blueprintFor({ ...observed.tlsModes, peer: tlsModeForScheme(scheme, observed.tlsModes.peer) });
}

/** The peer URL that etcd has registered for a member. */
function listedURLOf(name: MemberName, { observed: { world } }: Pick<StepContext, 'observed'>): string | undefined {
  const list = world.membership.seen ? world.membership.value : world.membership.unconfirmed;
  return list?.members.find((member) => member.name === name)?.peerURLs[0];
}

type OnMemberPod = { readonly name: MemberName; readonly uid: string };

/** The UID in the patch is a precondition: another pod with the same name is not changed. */
async function forbidRebootstrapOf({ name, uid }: OnMemberPod, context: StepContext): Promise<void> {
  const { blueprint, writer, signal } = context;
  const { intent, naming } = blueprint;
  const body = { metadata: { uid, annotations: annotationsOf(bootstrapForbidden(name, intent), naming) } };
  await writer.patch(pods, podWith(uid, context).metadata, { type: 'merge', body, signal });
}

/**
 * Stops a pod only in the observed state: a pod that a late cache shows as starting may serve a formed cluster by now.
 */
async function stopMemberPod(
  { name, uid }: OnMemberPod,
  { blueprint, observed, writer, signal }: StepContext,
): Promise<void> {
  const { resourceVersion, ...at } = observed.podWith(uid)?.metadata ?? { namespace: blueprint.intent.namespace, name };
  const preconditions = { uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  await unless('not-found', writer.remove(pods, at, { preconditions, signal }), undefined);
}

/**
 * Deletes an orphaned pod and its PVC, after a check that etcd does not list its member. Foreign PVCs are not deleted.
 */
async function deleteMemberPod({ name, uid }: OnMemberPod, context: StepContext): Promise<void> {
  const { blueprint } = context;
  const peerURL = blueprint.intent.peerURLOf(name);
  const members = await leaderOf(context).memberList(context);
  if (members.some((member) => member.name === name || member.peerURLs.includes(peerURL))) {
    throw new Failure('conflict', `${name} is a member of etcd: its pod and PVC are kept`);
  }
  await deletePeer(name, context.peers);
  const claim = claimOfMember(name, context);
  if (claim?.metadata.uid !== uid) await stopMemberPod({ name, uid }, context);
  if (claim !== undefined && isOwnClaim(claim, name, { context, members })) await keepOrDelete(claim, name, context);
}

interface Listed {
  readonly context: StepContext;
  readonly members: readonly Pick<EtcdMember, 'name'>[];
}

/**
 * A pod can mount any PVC. Its PVC is deleted with it only if the PVC belongs to this cluster and to no other member.
 */
function isOwnClaim(claim: Stored<PersistentVolumeClaim>, name: MemberName, { context, members }: Listed): boolean {
  const { blueprint, observed, controller } = context;
  const { uid, name: mounted } = claim.metadata;
  if (memberIn(claim) !== name || claimsOf(blueprint, controller.caches).every((each) => each.metadata.uid !== uid))
    return false;
  const isMember = (memberPod: MemberName): boolean => members.some((member) => member.name === memberPod);
  if (observed.world.memberPods.some((each) => each.claim === mounted && isMember(each.name))) return false;
  const { clusterId } = observed.world.memory;
  return !isForeignPvc(claim, blueprint, { clusterId, voters: [] });
}

/** If the peer URL exists already, an earlier request succeeded although its answer was lost. */
async function addMember(step: Extract<Step, { kind: 'add-member' }>, context: StepContext): Promise<void> {
  const { intent } = context.blueprint;
  await confirmDomain(context.observed.world, intent);
  const peerURL = intent.peerURLOf(step.name);
  const learner = step.as === 'learner';
  const added = leaderOf(context).memberAdd([peerURL], { learner, signal: context.signal });
  const adding = added.catch((thrown: unknown) => {
    if (!isRefusal(thrown, 'peer-url-exists')) throw thrown;
  });
  await confirmUnanswered(adding, (list) => list.some(({ peerURLs }) => peerURLs.includes(peerURL)), context);
}

async function promoteMember({ id }: Extract<Step, { kind: 'promote-member' }>, context: StepContext): Promise<void> {
  const promoting = leaderOf(context).memberPromote(id, context);
  await confirmUnanswered(promoting, (list) => list.some((member) => member.id === id && !member.isLearner), context);
}

async function removeMember(step: Extract<Step, { kind: 'remove-member' }>, context: StepContext): Promise<void> {
  await confirmRemoval(step, context);
  const { id } = step;
  const removing = unless('not-found', leaderOf(context).memberRemove(id, context), undefined);
  await confirmUnanswered(removing, (list) => list.every((member) => member.id !== id), context);
}
