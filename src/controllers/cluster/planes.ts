import { ownSecretsOf } from '../../core/certificates/names.ts';
import { peerSchemeAnnotation } from '../../core/desired/claim.ts';
import {
  clientMove,
  type Encryption,
  nextEncryption,
  type Plane,
  type Planes,
  planesIn,
  wantedPlanes,
} from '../../core/desired/encryption.ts';
import type { Blueprint } from '../../core/desired/manifest.ts';
import type { ClientMove } from '../../core/model/cluster.ts';
import type { Naming } from '../../core/model/template.ts';
import type { ReadCluster } from '../../dialects/dialect.ts';
import type { PersistentVolumeClaim, Pod, Stored } from '../../kube/object.ts';
import { type Bodies, nameOfBody } from './carriers.ts';
import { memberIn } from './member-claim.ts';

/** How members are to speak next. Until the cluster has formed nobody has to be understood. */
export function nextPlanes({ blueprint, memory }: ReadCluster, bodies: Bodies): Planes {
  const wanted = wantedPlanes(blueprint);
  if (memory.clusterId === undefined) return wanted;
  const spoken = spokenBy(bodies, blueprint.naming);
  const ours = ownSecretsOf(blueprint.intent.name).members;
  const next = (plane: Plane): Encryption => {
    const there = nextEncryption(wanted[plane], spoken[plane]);
    return wanted[plane] !== 'plain' || canKeep(bodies, volumes[plane], ours) ? there : wanted[plane];
  };
  return { peer: next('peer'), client: next('client') };
}

/** Without certificates nobody can begin with encryption: who speaks without goes on so, and whoever comes back to them too. */
export function planesWithoutCertificates(next: Planes, bodies: Bodies, { naming }: Blueprint): Planes {
  const spoken = spokenBy(bodies, naming);
  const still = (plane: Plane): Encryption =>
    spoken[plane].length > 0 && spoken[plane].every((each) => each === 'plain') ? 'plain' : next[plane];
  return { peer: still('peer'), client: still('client') };
}

/** What clients have to be told of how members serve them now and will serve them then. */
export function clientMoveOf({ blueprint, memory }: ReadCluster, bodies: Bodies): ClientMove | undefined {
  if (memory.clusterId === undefined) return undefined;
  return clientMove(wantedPlanes(blueprint).client, spokenBy(bodies, blueprint.naming).client);
}

const volumes: Readonly<Record<Plane, string>> = { peer: 'member-peer-tls', client: 'member-server-tls' };

/** Certificates outlive the spec that asked for them only where we keep them ourselves. */
const canKeep = ({ pods }: Bodies, volume: string, ours: string): boolean =>
  pods
    .flatMap(({ spec }) => spec?.volumes ?? [])
    .every(({ name, secret }) => name !== volume || secret?.secretName === ours);

type Spoken = Readonly<Record<Plane, readonly Encryption[]>>;

/** How those speak who have a pod; of those who have only a disk we know how they listened to peers. */
function spokenBy({ pods, claims }: Bodies, naming: Naming): Spoken {
  const running = pods.map(planesOf);
  const named = new Set<string>(pods.map(nameOfBody));
  const away = claims.filter((claim) => !named.has(memberIn(claim))).flatMap((claim) => listened(claim, naming));
  return {
    peer: [...running.map(({ peer }) => peer), ...away],
    client: running.map(({ client }) => client),
  };
}

export const planesOf = ({ spec }: Stored<Pod>): Planes =>
  planesIn(spec?.containers?.find(({ name }) => name === 'etcd')?.command ?? []);

/**
 * The pods that are shown a password. Encryption is switched on by way of both, so no member serves clients in plain text
 * only beside one that serves them with encryption only: such a pod was not rolled out by this operator.
 */
export function trustedWithPassword(pods: readonly Stored<Pod>[], blueprint: Blueprint): ReadonlySet<Stored<Pod>> {
  const isPlain = (pod: Stored<Pod>): boolean => planesOf(pod).client === 'plain';
  const isPlainWanted = wantedPlanes(blueprint).client === 'plain';
  const isEncrypted = !isPlainWanted && pods.some((pod) => planesOf(pod).client === 'encrypted');
  return new Set(pods.filter((pod) => !isEncrypted || !isPlain(pod)));
}

function listened({ metadata }: Stored<PersistentVolumeClaim>, naming: Naming): readonly Encryption[] {
  const scheme = metadata.annotations?.[peerSchemeAnnotation(naming)];
  if (scheme === undefined) return [];
  return [scheme === 'https' ? 'encrypted' : 'plain'];
}
