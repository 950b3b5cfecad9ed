import type { Body } from '../../core/model/restore.ts';
import type { RestoreStep } from '../../core/plan/restore/step.ts';
import type { KubeObject, Stored } from '../../kube/object.ts';
import { persistentVolumeClaims, pods, type Resource } from '../../kube/resource.ts';
import { unless } from '../../std/failure.ts';
import { isMadeFor } from './bodies.ts';
import type { RestoreDeed } from './perform.ts';

type Own = Pick<RestoreDeed, 'read' | 'tools' | 'writer'>;

/** What goes is the restore's own, and has to go also where the cluster is gone. */
export type Discard = Extract<RestoreStep, { readonly kind: `discard-${string}` }>;

export const isDiscard = (step: RestoreStep): step is Discard => step.kind.startsWith('discard-');

export async function discard(step: Discard, deed: Own): Promise<void> {
  switch (step.kind) {
    case 'discard-proof':
      return removeAll(pods, [step.proof], deed);
    case 'discard-seed':
      return discardSeed(step.name, deed);
    case 'discard-old-data':
      return removeAll(persistentVolumeClaims, step.claims, deed);
    default:
      return step satisfies never;
  }
}

/** The volume first: it goes when the pod has gone, and as long as there is a pod this is not over. */
async function discardSeed(name: string, deed: Own): Promise<void> {
  for (const resource of [persistentVolumeClaims, pods] as readonly Resource<KubeObject>[]) {
    const own = await ownBody(resource, name, deed);
    if (own !== undefined) await removeAll(resource, [own.metadata], deed);
  }
}

export async function removeAll<T extends KubeObject>(
  resource: Resource<T>,
  those: readonly Body[],
  { read, writer }: Pick<RestoreDeed, 'read' | 'writer'>,
): Promise<void> {
  const { namespace } = read.intent;
  for (const { name, uid } of those)
    await unless('not-found', writer.remove(resource, { namespace, name }, { preconditions: { uid } }), undefined);
}

/** What was made for this restore under that name: a member that the cluster has made meanwhile is not. */
export async function ownBody<T extends KubeObject>(
  resource: Resource<T>,
  name: string,
  { read: { intent }, tools }: Pick<RestoreDeed, 'read' | 'tools'>,
): Promise<Stored<T> | undefined> {
  const { namespace } = intent;
  const found = await unless('not-found', tools.client.get(resource, { namespace, name }), undefined);
  return found !== undefined && isMadeFor(found, intent, tools) ? found : undefined;
}
