import { memberClaim, peerSchemeAnnotation, schemeIn } from '../../core/desired/claim.ts';
import { listeningAs } from '../../core/desired/encryption.ts';
import { annotationsOf, sealed } from '../../core/desired/initial-cluster.ts';
import type { Blueprint, Manifest } from '../../core/desired/manifest.ts';
import { type Body, memberPod } from '../../core/desired/pod.ts';
import { type CarrierName, carrierNamed } from '../../core/model/cluster.ts';
import { minorOf } from '../../core/model/version.ts';
import type { Step } from '../../core/plan/cluster/step.ts';
import { isRefusal } from '../../etcd/errors.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { KubeObject, Stored } from '../../kube/object.ts';
import { persistentVolumeClaims, pods, type Resource } from '../../kube/resource.ts';
import { Failure, unless } from '../../std/failure.ts';
import { isLost } from './carriers.ts';
import { changeImage, noteOnClaim, noteVersion, relabelCarrier } from './change-pod.ts';
import { type Deed, leaderOf } from './deed.ts';
import { issueCertificates, stageCertificates } from './keep-certificates.ts';
import { dropPeer, makePeer } from './peers.ts';

/** Does one thing. A new kind of step does not compile until it is done here. */
export async function perform(step: Step, deed: Deed): Promise<void> {
  switch (step.kind) {
    case 'remember-bootstrap':
    case 'remember-formation':
      return; // what is remembered is part of the status, which is published at the end of the pass
    case 'issue-certificates':
      return issueCertificates(step, deed);
    case 'stage-certificates':
      return stageCertificates(step, deed);
    case 'start-carrier':
      return startCarrier(step, deed);
    case 'seal-carrier':
      return sealCarrier(step, deed);
    case 'stop-carrier':
      return stopCarrier(step, deed);
    case 'discard-carrier':
      return discardCarrier(step, deed);
    case 'change-image':
      return changeImage(step, deed);
    case 'relabel-carrier':
      return relabelCarrier(step, deed);
    case 'add-member':
      return addMember(step, deed);
    case 'promote-member':
      await leaderOf(deed).memberPromote(step.id, deed);
      return;
    case 'remove-member':
      return removeMember(step, deed);
    case 'update-peer-url':
      return updatePeerURL(step, deed);
    case 'move-leader':
      return leaderOf(deed).moveLeader(step.id, deed);
    case 'cancel-downgrade':
    case 'enable-downgrade':
      return downgrade(step, deed);
    default:
      return step satisfies never;
  }
}

async function downgrade(
  step: Extract<Step, { kind: 'cancel-downgrade' | 'enable-downgrade' }>,
  deed: Deed,
): Promise<void> {
  if (step.kind === 'cancel-downgrade') await leaderOf(deed).downgrade('cancel', '', deed);
  else await leaderOf(deed).downgrade('enable', minorOf(step.version), deed);
}

async function startCarrier(body: Body, deed: Deed): Promise<void> {
  await makePeer(body, deed.peers);
  const claim = memberClaim(deed.blueprint, body.name, body.version);
  if (claim !== undefined && body.join.as !== 'returner') await makeClaim(claim, deed);
  await noteVersion(body.name, body.version, deed);
  await deed.writer.create(pods, memberPod(blueprintOf(body, deed), body) as never, deed);
}

async function updatePeerURL(step: Extract<Step, { kind: 'update-peer-url' }>, deed: Deed): Promise<void> {
  const { intent, naming } = deed.blueprint;
  const url = intent.peerURLOf(step.name);
  await leaderOf(deed).memberUpdate(step.id, [url], deed);
  await noteOnClaim(step.name, { [peerSchemeAnnotation(naming)]: schemeIn(url) }, deed);
}

/** Whoever returns listens where the others look for it. It is moved on when all is well, and they have been told. */
function blueprintOf({ name, join }: Body, { blueprint, observed, tools }: Deed): Blueprint {
  if (join.as !== 'returner') return blueprint;
  const { membership } = observed.world;
  const list = membership.seen ? membership.value : membership.rumour;
  const listed = list?.members.find((member) => member.name === name)?.peerURLs[0];
  const claim = tools.caches.claims.get(`${blueprint.intent.namespace}/${name}`);
  const scheme =
    listed === undefined ? claim?.metadata.annotations?.[peerSchemeAnnotation(blueprint.naming)] : schemeIn(listed);
  return observed.blueprintFor({ ...observed.planes, peer: listeningAs(scheme, observed.planes.peer) });
}

/** A claim may be there already: it was left for whoever has its name, or we were killed after making it. */
async function makeClaim(wanted: Manifest, deed: Deed): Promise<void> {
  try {
    await deed.writer.create(persistentVolumeClaims, wanted, deed);
  } catch (thrown) {
    if (!isAlreadyExists(thrown)) throw thrown;
    const { name, labels } = wanted.metadata;
    const there = await lookUp(persistentVolumeClaims, name, deed);
    const isForIt = Object.entries(labels).every(([label, value]) => there?.metadata.labels?.[label] === value);
    if (there !== undefined && !isForIt)
      throw new Failure(
        'rejected',
        `PersistentVolumeClaim ${name} exists and is not for this member: delete or rename it`,
      );
  }
}

type OnCarrier = { readonly name: CarrierName; readonly uid: string };

/** The uid in the patch is a condition: another pod under the same name is not touched. */
async function sealCarrier({ name, uid }: OnCarrier, { blueprint, writer, signal }: Deed): Promise<void> {
  const { intent, naming } = blueprint;
  const body = { metadata: { uid, annotations: annotationsOf(sealed(name, intent), naming) } };
  await writer.patch(pods, { namespace: intent.namespace, name }, { type: 'merge', body, signal });
}

async function stopCarrier({ name, uid }: OnCarrier, { blueprint, writer, signal }: Deed): Promise<void> {
  const at = { namespace: blueprint.intent.namespace, name };
  await unless('not-found', writer.remove(pods, at, { preconditions: { uid }, signal }), undefined);
}

/** Before a disk goes, etcd is asked once more, now: what is a member is never discarded. */
async function discardCarrier({ name, uid }: OnCarrier, deed: Deed): Promise<void> {
  const { blueprint, tools, writer, signal } = deed;
  const peerURL = blueprint.intent.peerURLOf(name);
  const members = await leaderOf(deed).memberList(deed);
  if (members.some((member) => member.name === name || member.peerURLs.includes(peerURL))) {
    throw new Failure('conflict', `${name} is a member after all, and keeps its pod and disk`);
  }
  await dropPeer(name, deed.peers);
  const at = { namespace: blueprint.intent.namespace, name };
  const claim = tools.caches.claims.get(`${at.namespace}/${name}`);
  if (claim?.metadata.uid !== uid) await stopCarrier({ name, uid }, deed);
  if (claim === undefined) return;
  const preconditions = { uid: claim.metadata.uid };
  await unless('not-found', writer.remove(persistentVolumeClaims, at, { preconditions, signal }), undefined);
}

/** That the peer URL is there already means that an earlier try was heard although its answer was lost. */
async function addMember(step: Extract<Step, { kind: 'add-member' }>, deed: Deed): Promise<void> {
  const peerURL = deed.blueprint.intent.peerURLOf(step.name);
  const learner = step.as === 'learner';
  await leaderOf(deed)
    .memberAdd([peerURL], { learner, signal: deed.signal })
    .catch((thrown: unknown) => {
      if (!isRefusal(thrown, 'peer-url-exists')) throw thrown;
    });
}

async function removeMember({ name, id }: Extract<Step, { kind: 'remove-member' }>, deed: Deed): Promise<void> {
  await confirmLoss(name, deed);
  await unless('not-found', leaderOf(deed).memberRemove(id, deed), undefined);
}

/** A copy may be late, and what it does not show may be there: before a member is given up, the API server is asked itself. */
async function confirmLoss(name: CarrierName, deed: Deed): Promise<void> {
  const carrier = carrierNamed(deed.observed.world, name);
  if (carrier !== undefined && carrier.disk !== 'lost') return;
  if (carrier === undefined && (await lookUp(pods, name, deed)) !== undefined)
    throw new Failure('conflict', `the pod of ${name} is there after all`);
  const claim = await lookUp(persistentVolumeClaims, name, deed);
  if (claim !== undefined && claim.metadata.deletionTimestamp === undefined && !isLost(claim))
    throw new Failure('conflict', `the disk of ${name} is there after all`);
}

async function lookUp<T extends KubeObject>(
  resource: Resource<T>,
  name: string,
  { blueprint, tools, signal }: Deed,
): Promise<Stored<T> | undefined> {
  const at = { namespace: blueprint.intent.namespace, name };
  return await unless('not-found', tools.client.get(resource, at, { signal }), undefined);
}
