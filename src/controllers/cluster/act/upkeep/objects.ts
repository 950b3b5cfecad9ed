import { nameConflict } from '../../../../core/cluster/plan/upkeep/services-and-pdb.ts';
import type { UpkeepStep } from '../../../../core/cluster/plan/upkeep/step.ts';
import { isAlreadyExists } from '../../../../kube/errors.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { podDisruptionBudgets, type Resource, services } from '../../../../kube/resource.ts';
import { Failure, unless } from '../../../../std/failure.ts';
import type { UpkeepContext } from './context.ts';

type Of<Kind extends UpkeepStep['kind']> = Extract<UpkeepStep, { kind: Kind }>;

const resources: Readonly<Record<string, Resource<KubeObject>>> = {
  Service: services,
  PodDisruptionBudget: podDisruptionBudgets,
};

function resourceOf(kind: string): Resource<KubeObject> {
  const resource = resources[kind];
  if (resource === undefined) throw new Failure('bug', `${kind} is not written by upkeep`);
  return resource;
}

export async function createObject({ object }: Of<'create-object'>, { writer }: UpkeepContext): Promise<void> {
  const { kind, metadata } = object;
  await writer.create(resourceOf(kind), object).catch((thrown: unknown) => {
    // without the labels of the cluster the cache does not show it
    throw isAlreadyExists(thrown) ? nameConflict(kind, metadata.name) : thrown;
  });
}

export async function correctObject(step: Of<'correct-object'>, { cluster, writer }: UpkeepContext): Promise<void> {
  const { of, name, uid, labels, spec } = step;
  const at = { namespace: cluster.namespace, name };
  await writer.patch(resourceOf(of), at, { type: 'merge', body: { metadata: { uid, labels }, spec } });
}

export async function deleteBudget(step: Of<'delete-budget'>, { cluster, writer }: UpkeepContext): Promise<void> {
  const { name, uid, resourceVersion } = step;
  const at = { namespace: cluster.namespace, name };
  const removal = writer.remove(podDisruptionBudgets, at, { preconditions: { uid, resourceVersion } });
  await unless('not-found', removal, undefined);
}
