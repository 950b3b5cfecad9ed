import type { MemberName } from '../../../../core/cluster/model/names.ts';
import type { UpkeepStep } from '../../../../core/cluster/plan/upkeep/step.ts';
import type { MemberPodInput } from '../../../../core/manifests/pod.ts';
import { isAlreadyExists } from '../../../../kube/errors.ts';
import { keyOf } from '../../../../kube/object.ts';
import { persistentVolumeClaims, type Resource } from '../../../../kube/resource.ts';
import { Failure, unless } from '../../../../std/failure.ts';
import { isOwnedBy } from '../../../../std/owner.ts';
import type { ClusterObject } from '../../../shared/context.ts';
import type { PeerContext } from '../../ensure/peers.ts';
import type { UpkeepContext } from './context.ts';

type Of<Kind extends UpkeepStep['kind']> = Extract<UpkeepStep, { kind: Kind }>;
type Writing = Pick<UpkeepContext, 'writer'> & { readonly resource: Resource<ClusterObject> };

function writingOf({ controller, writer }: UpkeepContext): Writing {
  if (controller.peers === undefined) throw new Failure('bug', 'this API has no EtcdPeers');
  return { resource: controller.peers.resource, writer };
}

export const createPlannedPeer = ({ peer }: Of<'create-peer'>, context: UpkeepContext): Promise<void> =>
  createIfAbsent(peer, writingOf(context));

export async function correctPeer(step: Of<'correct-peer'>, context: UpkeepContext): Promise<void> {
  const { peer, spec, mayRecreate } = step;
  const { uid, name } = peer.metadata;
  const { resource, writer } = writingOf(context);
  const at = { namespace: context.cluster.namespace, name };
  const body = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'replace', path: '/spec', value: spec },
  ];
  await writer.patch(resource, at, { type: 'json', body }).catch((thrown: unknown) => {
    if (Failure.from(thrown).kind !== 'rejected' || !mayRecreate) throw thrown;
    return recreatePeer(step, { resource, writer });
  });
}

/** Deletes and recreates an EtcdPeer, because the API server rejects a smaller storage size in a patch. */
async function recreatePeer({ peer, spec }: Of<'correct-peer'>, writing: Writing): Promise<void> {
  const { apiVersion, kind, metadata } = peer;
  const { namespace, name, uid, resourceVersion, labels, ownerReferences } = metadata;
  const preconditions = { uid, resourceVersion };
  await writing.writer.remove(writing.resource, { namespace, name }, { preconditions });
  const replacement = { apiVersion, kind, metadata: { namespace, name, labels, ownerReferences }, spec };
  await createIfAbsent(replacement as ClusterObject, writing);
}

/** The PVC is annotated first: without the finalizer it may be deleted at once. */
export async function releasePeer(step: Of<'release-peer'>, context: UpkeepContext): Promise<void> {
  const { name, uid, finalizers, record } = step;
  const { namespace } = context.cluster;
  const { resource, writer } = writingOf(context);
  if (record !== undefined) {
    const body = { metadata: { uid: record.uid, annotations: record.annotations } };
    await writer.patch(persistentVolumeClaims, { namespace, name: record.claim }, { type: 'merge', body });
  }
  const body = { metadata: { uid, finalizers } };
  await unless('not-found', writer.patch(resource, { namespace, name }, { type: 'merge', body }), undefined);
}

export async function deletePlannedPeer(step: Of<'delete-peer'>, context: UpkeepContext): Promise<void> {
  const { name, uid, resourceVersion } = step;
  const { resource, writer } = writingOf(context);
  const at = { namespace: context.cluster.namespace, name };
  await unless('not-found', writer.remove(resource, at, { preconditions: { uid, resourceVersion } }), undefined);
}

/** Creates an EtcdPeer. One may exist already, if the cache is late; a foreign one is reported in the next pass. */
export async function createPeer(input: MemberPodInput, context: PeerContext | undefined): Promise<void> {
  if (context === undefined) return;
  const { cache, writer } = context;
  await createIfAbsent(context.objects.wanted(input, context.voters), { resource: cache.resource, writer });
}

async function createIfAbsent(peer: ClusterObject, { resource, writer }: Writing): Promise<void> {
  await writer.create(resource, peer).catch((thrown: unknown) => {
    if (!isAlreadyExists(thrown)) throw thrown;
  });
}

export async function deletePeer(name: MemberName, context: PeerContext | undefined): Promise<void> {
  const existing = context?.cache.store.get(keyOf({ namespace: context.namespace, name }));
  if (context === undefined || existing === undefined || !isOwnedBy(existing, context.owner)) return;
  const { namespace, uid, resourceVersion } = existing.metadata;
  const preconditions = { uid, resourceVersion };
  const removal = context.writer.remove(context.cache.resource, { namespace, name }, { preconditions });
  await unless('not-found', removal, undefined);
}
