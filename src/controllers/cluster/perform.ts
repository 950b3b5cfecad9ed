import { memberClaim, peerSchemeAnnotation, schemeIn, userOn } from '../../core/desired/claim.ts';
import { listeningAs } from '../../core/desired/encryption.ts';
import { annotationsOf, sealed } from '../../core/desired/initial-cluster.ts';
import type { Blueprint, Manifest } from '../../core/desired/manifest.ts';
import { type Body, memberPod } from '../../core/desired/pod.ts';
import type { CarrierName } from '../../core/model/names.ts';
import { minorOf } from '../../core/model/version.ts';
import type { Step } from '../../core/plan/cluster/step.ts';
import { isRefusal } from '../../etcd/errors.ts';
import type { EtcdMember } from '../../etcd/words.ts';
import { ApiFailure, isAlreadyExists } from '../../kube/errors.ts';
import type { PersistentVolumeClaim, Stored } from '../../kube/object.ts';
import { pods } from '../../kube/resource.ts';
import { Failure, unless } from '../../std/failure.ts';
import { changeImage, noteOnClaim, noteVersion, relabelCarrier, snapshotCountFor } from './change-pod.ts';
import { claimsOf, isStrangersClaim } from './claims-of.ts';
import { confirmRemoval } from './confirm-death.ts';
import { type Deed, evenUnanswered, leaderOf, podWith } from './deed.ts';
import { confirmAbsence } from './hidden-bodies.ts';
import { keepCertificates } from './keep-certificates.ts';
import { deleteVolume, keepOrDelete } from './kept-volumes.ts';
import { confirmDomain, confirmHost } from './known-hosts.ts';
import { dropSecrets } from './left-secrets.ts';
import { makeClaim } from './make-claim.ts';
import { claimNameFor, claimOfMember, memberIn } from './member-claim.ts';
import { dropPeer, makePeer } from './peers.ts';
import { makeBackup } from './safeguard.ts';
import { takeOver } from './take-over.ts';

type Doing = { readonly [K in Step['kind']]: (step: Extract<Step, { kind: K }>, deed: Deed) => Promise<void> };

/** What is remembered is part of the status, which is published at the end of the pass. */
const nothing = async (): Promise<void> => {};

/** How each thing is done. A new kind of step does not compile until it is done here. */
const doing: Doing = {
  'remember-bootstrap': nothing,
  'remember-formation': nothing,
  'release-carrier': takeOver,
  'adopt-carrier': takeOver,
  'issue-certificates': keepCertificates,
  'stage-certificates': keepCertificates,
  'drop-secrets': dropSecrets,
  'start-carrier': startCarrier,
  'seal-carrier': sealCarrier,
  'stop-carrier': stopCarrier,
  'discard-carrier': discardCarrier,
  'delete-volume': deleteVolume,
  'change-image': changeImage,
  'make-backup': makeBackup,
  'relabel-carrier': relabelCarrier,
  'add-member': addMember,
  'promote-member': promoteMember,
  'remove-member': removeMember,
  'update-peer-url': updatePeerURL,
  'move-leader': ({ id }, deed) => leaderOf(deed).moveLeader(id, deed),
  'cancel-downgrade': async (_, deed) => void (await leaderOf(deed).downgrade('cancel', '', deed)),
  'enable-downgrade': async ({ version }, deed) =>
    void (await leaderOf(deed).downgrade('enable', minorOf(version), deed)),
};

/**
 * Does one thing. When the process has stood still since it was planned, another operator may be at something else by now,
 * and two disruptions at once are one too many.
 */
export async function perform(step: Step, deed: Deed): Promise<void> {
  if (deed.tools.leads?.() === false) throw new Failure('conflict', 'this operator does not lead any more');
  const { unreadSecret } = deed.observed;
  if (unreadSecret !== undefined && makesPods.has(step.kind)) throw new ApiFailure('unreachable', unreadSecret);
  await (doing[step.kind] as (step: Step, deed: Deed) => Promise<void>)(step, deed);
}

/** A pod that would mount a Secret which could not be read is not made, nor is one stopped that could not be made again. */
const makesPods: ReadonlySet<Step['kind']> = new Set(['start-carrier', 'stop-carrier']);

async function startCarrier(body: Body, deed: Deed): Promise<void> {
  await makePeer(body, deed.peers);
  const { name, version } = body;
  const claim = claimNameFor(name, deed);
  const wanted = memberClaim(deed.blueprint, name, version);
  if (wanted !== undefined && body.join.as !== 'returner') await makeClaim(named(wanted, claim), deed);
  const snapshotCount = snapshotCountFor(body, deed);
  await noteVersion(name, { version, snapshotCount }, deed);
  const pod = memberPod(blueprintOf(body, deed), { ...body, claim, user: userOf(name, deed), snapshotCount });
  await deed.writer.create(pods, pod as never, deed).catch(async (thrown: unknown) => {
    if (isAlreadyExists(thrown)) await confirmAbsence(name, deed);
    throw thrown;
  });
}

const named = (wanted: Manifest, name: string): Manifest => ({ ...wanted, metadata: { ...wanted.metadata, name } });

/** Files on a disk that another has made stay somebody's, until another disk takes its place. */
function userOf(name: CarrierName, deed: Deed): number | undefined {
  const claim = claimOfMember(name, deed);
  return claim === undefined ? undefined : userOn(claim.metadata.annotations ?? {}, deed.blueprint.naming);
}

async function updatePeerURL(step: Extract<Step, { kind: 'update-peer-url' }>, deed: Deed): Promise<void> {
  const { intent, naming } = deed.blueprint;
  const url = intent.peerURLOf(step.name);
  await confirmHost(listedURLOf(step.name, deed) ?? '', url);
  await leaderOf(deed).memberUpdate(step.id, [url], deed);
  await noteOnClaim(step.name, { [peerSchemeAnnotation(naming)]: schemeIn(url) }, deed);
}

/** Whoever returns listens where the others look for it. It is moved on when all is well, and they have been told. */
function blueprintOf({ name, join }: Body, deed: Deed): Blueprint {
  const { blueprint, observed } = deed;
  if (join.as !== 'returner') return blueprint;
  const listed = listedURLOf(name, { observed });
  const claim = claimOfMember(name, deed);
  const scheme =
    listed === undefined ? claim?.metadata.annotations?.[peerSchemeAnnotation(blueprint.naming)] : schemeIn(listed);
  return observed.blueprintFor({ ...observed.planes, peer: listeningAs(scheme, observed.planes.peer) });
}

/** Where the others look for it. */
function listedURLOf(name: CarrierName, { observed: { world } }: Pick<Deed, 'observed'>): string | undefined {
  const list = world.membership.seen ? world.membership.value : world.membership.rumour;
  return list?.members.find((member) => member.name === name)?.peerURLs[0];
}

type OnCarrier = { readonly name: CarrierName; readonly uid: string };

/** The uid in the patch is a condition: another pod under the same name is not touched. */
async function sealCarrier({ name, uid }: OnCarrier, deed: Deed): Promise<void> {
  const { blueprint, writer, signal } = deed;
  const { intent, naming } = blueprint;
  const body = { metadata: { uid, annotations: annotationsOf(sealed(name, intent), naming) } };
  await writer.patch(pods, podWith(uid, deed).metadata, { type: 'merge', body, signal });
}

async function stopCarrier({ name, uid }: OnCarrier, { blueprint, observed, writer, signal }: Deed): Promise<void> {
  const at = observed.podWith(uid)?.metadata ?? { namespace: blueprint.intent.namespace, name };
  await unless('not-found', writer.remove(pods, at, { preconditions: { uid }, signal }), undefined);
}

/** Before a disk goes, etcd is asked once more, now: what is a member is never discarded, nor what never was this cluster's. */
async function discardCarrier({ name, uid }: OnCarrier, deed: Deed): Promise<void> {
  const { blueprint } = deed;
  const peerURL = blueprint.intent.peerURLOf(name);
  const members = await leaderOf(deed).memberList(deed);
  if (members.some((member) => member.name === name || member.peerURLs.includes(peerURL))) {
    throw new Failure('conflict', `${name} is a member after all, and keeps its pod and disk`);
  }
  await dropPeer(name, deed.peers);
  const claim = claimOfMember(name, deed);
  if (claim?.metadata.uid !== uid) await stopCarrier({ name, uid }, deed);
  if (claim !== undefined && isOwnClaim(claim, name, { deed, members })) await keepOrDelete(claim, name, deed);
}

interface Listed {
  readonly deed: Deed;
  readonly members: readonly Pick<EtcdMember, 'name'>[];
}

/** A pod can mount any PVC, to save what is on it: only one that is of this cluster, and of this name alone, goes with it. */
function isOwnClaim(claim: Stored<PersistentVolumeClaim>, name: CarrierName, { deed, members }: Listed): boolean {
  const { blueprint, observed, tools } = deed;
  const { uid, name: mounted } = claim.metadata;
  if (memberIn(claim) !== name || claimsOf(blueprint, tools.caches).every((each) => each.metadata.uid !== uid))
    return false;
  const isMember = (carrier: CarrierName): boolean => members.some((member) => member.name === carrier);
  if (observed.world.carriers.some((each) => each.claim === mounted && isMember(each.name))) return false;
  const { clusterId } = observed.world.memory;
  return !isStrangersClaim(claim, blueprint, { clusterId, voters: [] });
}

/** That the peer URL is there already means that an earlier try was heard although its answer was lost. */
async function addMember(step: Extract<Step, { kind: 'add-member' }>, deed: Deed): Promise<void> {
  const { intent } = deed.blueprint;
  await confirmDomain(deed.observed.world, intent);
  const peerURL = intent.peerURLOf(step.name);
  const learner = step.as === 'learner';
  const added = leaderOf(deed).memberAdd([peerURL], { learner, signal: deed.signal });
  const adding = added.catch((thrown: unknown) => {
    if (!isRefusal(thrown, 'peer-url-exists')) throw thrown;
  });
  await evenUnanswered(adding, (list) => list.some(({ peerURLs }) => peerURLs.includes(peerURL)), deed);
}

async function promoteMember({ id }: Extract<Step, { kind: 'promote-member' }>, deed: Deed): Promise<void> {
  const promoting = leaderOf(deed).memberPromote(id, deed);
  await evenUnanswered(promoting, (list) => list.some((member) => member.id === id && !member.isLearner), deed);
}

async function removeMember(step: Extract<Step, { kind: 'remove-member' }>, deed: Deed): Promise<void> {
  await confirmRemoval(step, deed);
  const { id } = step;
  const removing = unless('not-found', leaderOf(deed).memberRemove(id, deed), undefined);
  await evenUnanswered(removing, (list) => list.every((member) => member.id !== id), deed);
}
