import { memberClaim } from '../../core/desired/claim.ts';
import { annotationsOf, sealed } from '../../core/desired/initial-cluster.ts';
import type { Blueprint, Manifest } from '../../core/desired/manifest.ts';
import { memberPod } from '../../core/desired/pod.ts';
import { type CarrierName, carrierNamed } from '../../core/model/cluster.ts';
import type { Join, Step } from '../../core/plan/cluster/step.ts';
import type { EtcdConnection } from '../../etcd/client.ts';
import { isRefusal } from '../../etcd/errors.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { KubeObject, Stored } from '../../kube/object.ts';
import { persistentVolumeClaims, pods, type Resource } from '../../kube/resource.ts';
import { Failure, unless } from '../../std/failure.ts';
import { isLost } from './carriers.ts';
import type { Observed } from './observe.ts';
import type { Tools } from './sources.ts';
import type { Writer } from './writer.ts';

/** What performing a step needs. */
export interface Deed {
  readonly blueprint: Blueprint;
  readonly observed: Observed;
  readonly tools: Tools;
  readonly writer: Writer;
  readonly signal: AbortSignal;
}

/** Does one thing. A new kind of step does not compile until it is done here. */
export async function perform(step: Step, deed: Deed): Promise<void> {
  switch (step.kind) {
    case 'remember-bootstrap':
    case 'remember-formation':
      return; // what is remembered is part of the status, which is published at the end of the pass
    case 'start-carrier':
      return startCarrier(step.name, step.join, deed);
    case 'seal-carrier':
      return sealCarrier(step, deed);
    case 'stop-carrier':
      return stopCarrier(step, deed);
    case 'discard-carrier':
      return discardCarrier(step, deed);
    case 'add-member':
      return addMember(step, deed);
    case 'promote-member':
      await leaderOf(deed).memberPromote(step.id, deed);
      return;
    case 'remove-member':
      return removeMember(step, deed);
    default:
      return step satisfies never;
  }
}

async function startCarrier(name: CarrierName, join: Join, deed: Deed): Promise<void> {
  const claim = memberClaim(deed.blueprint, name);
  if (claim !== undefined) await createUnlessThere(persistentVolumeClaims, claim, deed);
  await deed.writer.create(pods, memberPod(deed.blueprint, name, join) as never, deed);
}

/** A claim may be there already: the member comes back to it, or we were killed after making it. */
async function createUnlessThere<T extends KubeObject>(
  resource: Resource<T>,
  wanted: Manifest,
  deed: Deed,
): Promise<void> {
  await deed.writer.create(resource, wanted as unknown as T, deed).catch((thrown: unknown) => {
    if (!isAlreadyExists(thrown)) throw thrown;
  });
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

/** Changes are asked of the leader: it knows best, and old versions do not pass all of them on. */
function leaderOf({ observed }: Deed): EtcdConnection {
  const { membership } = observed.world;
  const members = membership.seen ? membership.value.members : [];
  const leader = members.find((member) => member.leads);
  const connection = leader === undefined ? undefined : observed.connectionTo(leader.name);
  if (connection === undefined) throw new Failure('unreachable', 'there is no leader to ask at the moment');
  return connection;
}
