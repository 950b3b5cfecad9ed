import { isKept } from '../../core/desired/kept-claim.ts';
import { memberOfClaim } from '../../core/model/claim-names.ts';
import { isNumberedName } from '../../core/model/ordinals.ts';
import type { RestoreIntent } from '../../core/model/restore.ts';
import { isAbsentOrUndefined } from '../../kube/errors.ts';
import type { KubeObject, Stored } from '../../kube/object.ts';
import { Failure } from '../../std/failure.ts';
import type { Bodies } from './bodies.ts';
import { isMadeFor } from './bodies.ts';
import type { RestoreTools } from './sources.ts';
import { clusterNamed, type Found } from './target.ts';

/** Who or what has the name of a cluster that a restore is to make: nothing of that may be lost, or taken for the new one's. */
export async function takenFor(
  intent: RestoreIntent,
  { found, bodies }: { readonly found: Found; readonly bodies: Bodies },
  tools: RestoreTools,
): Promise<string | undefined> {
  const { target, stranger } = found;
  const { kind } = tools.clusters.dialect;
  if (stranger !== undefined)
    return `there is an ${kind} "${intent.cluster}" already: choose another name, or delete it and its volumes`;
  if (intent.into === 'existing' || typeof target === 'string' || target.object !== undefined) return undefined;
  const rival = await rivalOf(intent, tools);
  if (rival !== undefined)
    return `an ${kind} of ${rival} has the name "${intent.cluster}" in this namespace: choose another name`;
  const strangers = (those: readonly Stored<KubeObject>[]) => those.filter((each) => !isMadeFor(each, intent, tools));
  const { naming } = target.read.blueprint;
  const claims = strangers(bodies.claims).filter(({ metadata }) => !isKept(metadata, naming)); // no cluster goes on with these
  return leftBehind(intent, { pods: strangers(bodies.pods), claims }, naming.clusterLabels);
}

async function rivalOf(intent: RestoreIntent, tools: RestoreTools): Promise<string | undefined> {
  for (const resource of tools.rivals) {
    const rival = await clusterNamed(intent, resource, tools).catch((thrown: unknown) => {
      if (Failure.from(thrown).kind !== 'forbidden' && !isAbsentOrUndefined(thrown)) throw thrown;
      return undefined;
    });
    if (rival !== undefined) return resource.group;
  }
  return undefined;
}

/** A cluster of that name would take what is left for its own, and go on with it. */
function leftBehind(
  { cluster }: RestoreIntent,
  { pods, claims }: { readonly [Kind in keyof Bodies]: readonly KubeObject[] },
  labels: Readonly<Record<string, string>>,
): string | undefined {
  const isNumbered = ({ metadata }: KubeObject): boolean => isNumberedName(cluster, memberOfClaim(metadata.name));
  const isLabelled = ({ metadata }: KubeObject): boolean =>
    Object.entries(labels).every(([label, value]) => metadata.labels?.[label] === value);
  const isLeft = (each: KubeObject): boolean => isNumbered(each) || isLabelled(each);
  const claim = claims.find(isLeft);
  if (claim !== undefined)
    return `volume ${claim.metadata.name} of an earlier cluster "${cluster}" is still there: delete its claims, or choose another name`;
  const pod = pods.find(isLeft);
  return pod && `pod ${pod.metadata.name} has the name of a member: delete it, or choose another name`;
}
