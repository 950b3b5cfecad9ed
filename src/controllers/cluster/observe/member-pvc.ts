import { memberPodNamed } from '../../../core/cluster/model/cluster.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import { claimNamesOf, memberOfClaim } from '../../../core/cluster/model/pvc-names.ts';
import type { Blueprint } from '../../../core/manifests/manifest.ts';
import { claimAnnotation } from '../../../core/manifests/pvc.ts';
import { isOfRemovedMember } from '../../../core/manifests/removed-pvc.ts';
import { keyOf, type PersistentVolumeClaim, type Stored } from '../../../kube/object.ts';
import { persistentVolumeClaims } from '../../../kube/resource.ts';
import { Failure } from '../../../std/failure.ts';
import { getLive, type StepContext } from '../act/step-context.ts';

type Claim = Stored<PersistentVolumeClaim>;
type PvcContext = Pick<StepContext, 'blueprint' | 'observed' | 'controller'>;

export const memberIn = ({ metadata }: Claim): MemberName => memberOfClaim(metadata.name);

/** Prefers PVCs that the operator made, then the newest PVC. */
function bestOf(claims: readonly Claim[], { naming }: Pick<Blueprint, 'naming'>): Claim | undefined {
  const isMade = ({ metadata }: Claim): number => Number(metadata.annotations?.[claimAnnotation(naming)] !== undefined);
  const madeAt = ({ metadata }: Claim): number => Date.parse(metadata.creationTimestamp) || 0;
  return claims.toSorted((a, b) => isMade(b) - isMade(a) || madeAt(b) - madeAt(a))[0];
}

export const bestOfEach = (claims: readonly Claim[], blueprint: Pick<Blueprint, 'naming'>): readonly Claim[] =>
  [...Map.groupBy(claims, memberIn).values()].flatMap((same) => bestOf(same, blueprint) ?? []);

/** The PVC of a member, under any of its names. PVCs of removed members with the same name are left out. */
export function claimOfMember(name: MemberName, context: PvcContext): Claim | undefined {
  const { blueprint, observed } = context;
  const mounted = memberPodNamed(observed.world, name)?.claim;
  const names = mounted === undefined ? claimNamesOf(name, blueprint.intent) : [mounted];
  const found = names.flatMap((claim) => cached(claim, context) ?? []);
  return bestOf(
    found.filter(({ metadata }) => !isOfRemovedMember(metadata, blueprint.naming)),
    blueprint,
  );
}

const cached = (name: string, { blueprint, controller }: PvcContext): Claim | undefined =>
  controller.caches.claims.get(keyOf({ namespace: blueprint.intent.namespace, name }));

/** The name of the PVC of a member: that of its existing PVC, or the first unused name. */
export function claimNameFor(member: MemberName, context: PvcContext): string {
  const own = claimOfMember(member, context);
  if (own !== undefined) return own.metadata.name;
  const free = claimNamesOf(member, context.blueprint.intent).find((name) => cached(name, context) === undefined);
  if (free === undefined)
    throw new Failure(
      'conflict',
      `every PersistentVolumeClaim name of ${member} is used by a kept PersistentVolumeClaim`,
    );
  return free;
}

/** Reads the PVCs of a member from the API server. PVCs of removed members with the same name are left out. */
export async function claimsOnServer(
  member: MemberName,
  context: PvcContext & Pick<StepContext, 'signal'>,
): Promise<readonly Claim[]> {
  const { blueprint, observed } = context;
  const mounted = memberPodNamed(observed.world, member)?.claim;
  const names = mounted === undefined ? claimNamesOf(member, blueprint.intent) : [mounted];
  const found = await Promise.all(names.map((name) => getLive(persistentVolumeClaims, name, context)));
  return found.flatMap((claim) =>
    claim === undefined || isOfRemovedMember(claim.metadata, blueprint.naming) ? [] : [claim],
  );
}
