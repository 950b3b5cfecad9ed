import { isNumberedName } from '../../core/cluster/model/ordinals.ts';
import { memberOfClaim } from '../../core/cluster/model/pvc-names.ts';
import { isOfRemovedMember } from '../../core/manifests/removed-pvc.ts';
import type { RestoreIntent } from '../../core/restore/model.ts';
import { isAbsentOrUndefined } from '../../kube/errors.ts';
import type { KubeObject, Stored } from '../../kube/object.ts';
import { Failure } from '../../std/failure.ts';
import type { PodsAndPvcs } from '../cluster/observe/members.ts';
import type { RestoreContext } from './context.ts';
import { isMadeFor } from './pods-and-pvcs.ts';
import { clusterNamed, type Found } from './target.ts';

/**
 * Objects that conflict with the name of the cluster to create. They must neither be lost nor adopted by the new
 * cluster.
 */
export async function nameConflictFor(
  intent: RestoreIntent,
  { found, podsAndPvcs }: { readonly found: Found; readonly podsAndPvcs: PodsAndPvcs },
  context: RestoreContext,
): Promise<string | undefined> {
  const { target, foreignObject } = found;
  const { kind } = context.clusters.dialect;
  if (foreignObject !== undefined)
    return `there is an ${kind} "${intent.cluster}" already: choose another name, or delete it and its volumes`;
  if (intent.into === 'existing' || typeof target === 'string' || target.object !== undefined) return undefined;
  const group = await groupWithSameName(intent, context);
  if (group !== undefined)
    return `an ${kind} of ${group} has the name "${intent.cluster}" in this namespace: choose another name`;
  const foreignObjects = (objects: readonly Stored<KubeObject>[]) =>
    objects.filter((each) => !isMadeFor(each, intent, context));
  const { naming } = target.read.blueprint;
  // Clusters never reuse PVCs of removed members.
  const claims = foreignObjects(podsAndPvcs.claims).filter(({ metadata }) => !isOfRemovedMember(metadata, naming));
  return leftovers(intent, { pods: foreignObjects(podsAndPvcs.pods), claims }, naming.clusterLabels);
}

async function groupWithSameName(intent: RestoreIntent, context: RestoreContext): Promise<string | undefined> {
  for (const resource of context.otherClusterKinds) {
    const sameName = await clusterNamed(intent, resource, context).catch((thrown: unknown) => {
      if (Failure.from(thrown).kind !== 'forbidden' && !isAbsentOrUndefined(thrown)) throw thrown;
      return undefined;
    });
    if (sameName !== undefined) return resource.group;
  }
  return undefined;
}

/** Pods and PVCs of an earlier cluster: a new cluster of that name would adopt them. */
function leftovers(
  { cluster }: RestoreIntent,
  { pods, claims }: { readonly [Kind in keyof PodsAndPvcs]: readonly KubeObject[] },
  labels: Readonly<Record<string, string>>,
): string | undefined {
  const isNumbered = ({ metadata }: KubeObject): boolean => isNumberedName(cluster, memberOfClaim(metadata.name));
  const isLabelled = ({ metadata }: KubeObject): boolean =>
    Object.entries(labels).every(([label, value]) => metadata.labels?.[label] === value);
  const isLeft = (each: KubeObject): boolean => isNumbered(each) || isLabelled(each);
  const claim = claims.find(isLeft);
  if (claim !== undefined)
    return `PersistentVolumeClaim ${claim.metadata.name} of an earlier cluster "${cluster}" still exists: delete the PVCs of that cluster, or choose another name`;
  const pod = pods.find(isLeft);
  return pod && `pod ${pod.metadata.name} has the name of a member: delete it, or choose another name`;
}
