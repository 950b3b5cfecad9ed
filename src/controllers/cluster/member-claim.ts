import { claimAnnotation } from '../../core/desired/claim.ts';
import { isKept } from '../../core/desired/kept-claim.ts';
import type { Blueprint } from '../../core/desired/manifest.ts';
import { claimNamesOf, memberOfClaim } from '../../core/model/claim-names.ts';
import { carrierNamed } from '../../core/model/cluster.ts';
import type { CarrierName } from '../../core/model/names.ts';
import { keyOf, type PersistentVolumeClaim, type Stored } from '../../kube/object.ts';
import { persistentVolumeClaims } from '../../kube/resource.ts';
import { Failure } from '../../std/failure.ts';
import { type Deed, lookUp } from './deed.ts';

type Claim = Stored<PersistentVolumeClaim>;
type Looking = Pick<Deed, 'blueprint' | 'observed' | 'tools'>;

export const memberIn = ({ metadata }: Claim): CarrierName => memberOfClaim(metadata.name);

/** Of several PVCs for one member: those made by an operator before others, and of these the newest. */
function bestOf(claims: readonly Claim[], { naming }: Pick<Blueprint, 'naming'>): Claim | undefined {
  const isMade = ({ metadata }: Claim): number => Number(metadata.annotations?.[claimAnnotation(naming)] !== undefined);
  const madeAt = ({ metadata }: Claim): number => Date.parse(metadata.creationTimestamp) || 0;
  return claims.toSorted((a, b) => isMade(b) - isMade(a) || madeAt(b) - madeAt(a))[0];
}

export const bestOfEach = (claims: readonly Claim[], blueprint: Pick<Blueprint, 'naming'>): readonly Claim[] =>
  [...Map.groupBy(claims, memberIn).values()].flatMap((same) => bestOf(same, blueprint) ?? []);

/** The PVC of a member, under whichever name; never that of a removed member of the same name. */
export function claimOfMember(name: CarrierName, looking: Looking): Claim | undefined {
  const { blueprint, observed } = looking;
  const mounted = carrierNamed(observed.world, name)?.claim;
  const names = mounted === undefined ? claimNamesOf(name, blueprint.intent) : [mounted];
  const found = names.flatMap((claim) => cached(claim, looking) ?? []);
  return bestOf(
    found.filter(({ metadata }) => !isKept(metadata, blueprint.naming)),
    blueprint,
  );
}

const cached = (name: string, { blueprint, tools }: Looking): Claim | undefined =>
  tools.caches.claims.get(keyOf({ namespace: blueprint.intent.namespace, name }));

/** The name for the PVC of a member: that of the one it has, or else the first that no other PVC has. */
export function claimNameFor(member: CarrierName, looking: Looking): string {
  const own = claimOfMember(member, looking);
  if (own !== undefined) return own.metadata.name;
  const free = claimNamesOf(member, looking.blueprint.intent).find((name) => cached(name, looking) === undefined);
  if (free === undefined)
    throw new Failure('conflict', `every name for a PersistentVolumeClaim of ${member} is taken by one that is kept`);
  return free;
}

/** The PVCs that may be a member's, asked of the API server itself; without those of removed members of the same name. */
export async function claimsOnServer(
  member: CarrierName,
  looking: Looking & Pick<Deed, 'signal'>,
): Promise<readonly Claim[]> {
  const { blueprint, observed } = looking;
  const mounted = carrierNamed(observed.world, member)?.claim;
  const names = mounted === undefined ? claimNamesOf(member, blueprint.intent) : [mounted];
  const found = await Promise.all(names.map((name) => lookUp(persistentVolumeClaims, name, looking)));
  return found.flatMap((claim) => (claim === undefined || isKept(claim.metadata, blueprint.naming) ? [] : [claim]));
}
