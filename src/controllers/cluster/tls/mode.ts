import type { ReadCluster } from '../../../apis/common/dialect.ts';
import type { ClientMigration } from '../../../core/cluster/model/cluster.ts';
import type { Naming } from '../../../core/cluster/model/template.ts';
import type { Blueprint } from '../../../core/manifests/manifest.ts';
import { peerSchemeAnnotation } from '../../../core/manifests/pvc.ts';
import {
  clientMigration,
  nextTlsMode,
  type TlsChannel,
  type TlsMode,
  type TlsModes,
  tlsModesIn,
  wantedTlsModes,
} from '../../../core/manifests/tls-mode.ts';
import { ownSecretsOf } from '../../../core/pki/names.ts';
import type { PersistentVolumeClaim, Pod, Stored } from '../../../kube/object.ts';
import { memberIn } from '../observe/member-pvc.ts';
import { memberNameOf, type PodsAndPvcs } from '../observe/members.ts';

/** The TLS modes of the next pods. A cluster that has not formed needs no transition. */
export function nextTlsModes({ blueprint, memory }: ReadCluster, podsAndPvcs: PodsAndPvcs): TlsModes {
  const wanted = wantedTlsModes(blueprint);
  if (memory.clusterId === undefined) return wanted;
  const current = currentModes(podsAndPvcs, blueprint.naming);
  const ours = ownSecretsOf(blueprint.intent.name).members;
  const next = (plane: TlsChannel): TlsMode => {
    const there = nextTlsMode(wanted[plane], current[plane]);
    return wanted[plane] !== 'plain' || canKeep(podsAndPvcs, volumes[plane], ours) ? there : wanted[plane];
  };
  return { peer: next('peer'), client: next('client') };
}

/** Without certificates a plaintext cluster stays plaintext, also its restarted members. */
export function tlsModesWithoutCertificates(next: TlsModes, podsAndPvcs: PodsAndPvcs, { naming }: Blueprint): TlsModes {
  const current = currentModes(podsAndPvcs, naming);
  const still = (plane: TlsChannel): TlsMode =>
    current[plane].length > 0 && current[plane].every((each) => each === 'plain') ? 'plain' : next[plane];
  return { peer: still('peer'), client: still('client') };
}

/** The migration that clients have to make, by the current and the wanted client TLS mode. */
export function clientMigrationOf(
  { blueprint, memory }: ReadCluster,
  podsAndPvcs: PodsAndPvcs,
): ClientMigration | undefined {
  if (memory.clusterId === undefined) return undefined;
  return clientMigration(wantedTlsModes(blueprint).client, currentModes(podsAndPvcs, blueprint.naming).client);
}

const volumes: Readonly<Record<TlsChannel, string>> = { peer: 'member-peer-tls', client: 'member-server-tls' };

/** Certificates can be used after their removal from the spec only if they are in a managed Secret. */
const canKeep = ({ pods }: PodsAndPvcs, volume: string, ours: string): boolean =>
  pods
    .flatMap(({ spec }) => spec?.volumes ?? [])
    .every(({ name, secret }) => name !== volume || secret?.secretName === ours);

type CurrentModes = Readonly<Record<TlsChannel, readonly TlsMode[]>>;

/** The TLS modes of pods. For a PVC without a pod, its annotation has the peer mode. */
function currentModes({ pods, claims }: PodsAndPvcs, naming: Naming): CurrentModes {
  const running = pods.map(tlsModesOf);
  const named = new Set<string>(pods.map(memberNameOf));
  const withoutPod = claims
    .filter((claim) => !named.has(memberIn(claim)))
    .flatMap((claim) => peerModeOn(claim, naming));
  return {
    peer: [...running.map(({ peer }) => peer), ...withoutPod],
    client: running.map(({ client }) => client),
  };
}

export const tlsModesOf = ({ spec }: Stored<Pod>): TlsModes =>
  tlsModesIn(spec?.containers?.find(({ name }) => name === 'etcd')?.command ?? []);

/**
 * The pods that may receive the operator's password. TLS is rolled out through dual-mode, so a plaintext pod beside a
 * TLS-only pod was not rolled out by this operator, and receives no password.
 */
export function trustedWithPassword(pods: readonly Stored<Pod>[], blueprint: Blueprint): ReadonlySet<Stored<Pod>> {
  const isPlain = (pod: Stored<Pod>): boolean => tlsModesOf(pod).client === 'plain';
  const isPlainWanted = wantedTlsModes(blueprint).client === 'plain';
  const isEncrypted = !isPlainWanted && pods.some((pod) => tlsModesOf(pod).client === 'encrypted');
  return new Set(pods.filter((pod) => !isEncrypted || !isPlain(pod)));
}

function peerModeOn({ metadata }: Stored<PersistentVolumeClaim>, naming: Naming): readonly TlsMode[] {
  const scheme = metadata.annotations?.[peerSchemeAnnotation(naming)];
  if (scheme === undefined) return [];
  return [scheme === 'https' ? 'encrypted' : 'plain'];
}
