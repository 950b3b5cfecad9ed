import { coreos } from '../../apis/coreos-v1beta2/dialect.ts';
import { improbable } from '../../apis/improbable-v1alpha1/dialect.ts';
import type { StoreLocation } from '../../core/backup/store-location.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { PersistentVolumeClaim, Stored } from '../../kube/object.ts';
import { persistentVolumeClaims } from '../../kube/resource.ts';
import { Failure } from '../../std/failure.ts';
import { addressOf } from '../shared/store-access.ts';

const groups = [coreos.group, improbable.group];
/** Labels of member PVCs that do not start with an API group. */
const memberLabels: ReadonlySet<string> = new Set(['etcd_cluster', 'etcd_node']);

/** Marks a PersistentVolumeClaim as a destination for backups. */
export const backupVolumeLabel = 'etcd-operator/backups';

/**
 * Why no backup may be written to a PVC; undefined if it may. The PVC must have the label for backups: the right to
 * create an EtcdBackup is not the right to change data of other applications.
 */
export async function refusalToWritePvc(
  place: StoreLocation,
  namespace: string,
  context: { readonly client: Pick<KubeClient, 'get'> },
): Promise<string | undefined> {
  return refusal(place, namespace, {
    ...context,
    judge: (claim) => memberRefusal(place, claim) ?? optInRefusal(place, claim),
  });
}

/** Why a PVC may not be read; undefined if it may. PVCs of members hold data directories and are refused. */
export async function refusalToReadPvc(
  place: StoreLocation,
  namespace: string,
  context: { readonly client: Pick<KubeClient, 'get'> },
): Promise<string | undefined> {
  return refusal(place, namespace, { ...context, judge: (claim) => memberRefusal(place, claim) });
}

type Claim = Stored<PersistentVolumeClaim>;

const memberRefusal = (place: StoreLocation, claim: Claim): string | undefined => {
  const why = membershipOf(claim);
  return (
    why &&
    `${place.field}: PersistentVolumeClaim "${claim.metadata.name}" ${why}: name a PVC that is used for backups only`
  );
};

const optInRefusal = ({ field }: StoreLocation, { metadata: { name, labels } }: Claim): string | undefined =>
  labels?.[backupVolumeLabel] === 'true'
    ? undefined
    : `${field}: PersistentVolumeClaim "${name}" is not labelled for backups: ` +
      `kubectl label pvc ${name} ${backupVolumeLabel}=true`;

interface Judging {
  readonly client: Pick<KubeClient, 'get'>;
  readonly judge: (claim: Claim) => string | undefined;
}

async function refusal(
  place: StoreLocation,
  namespace: string,
  { client, judge }: Judging,
): Promise<string | undefined> {
  const { kind, bucket: name } = addressOf(place).store;
  if (kind !== 'file') return undefined;
  try {
    return judge(await client.get(persistentVolumeClaims, { namespace, name }));
  } catch (thrown) {
    const { kind: failure, message } = Failure.from(thrown);
    // A Pod that waits for a missing PVC would mount any PVC of that name, even one of a member.
    if (failure === 'not-found') return `${place.field}: ${missing(name, namespace)}`;
    if (failure === 'forbidden') return message;
    throw thrown;
  }
}

const missing = (name: string, namespace: string): string =>
  `PersistentVolumeClaim "${name}" does not exist: create it in namespace "${namespace}"`;

/** Why a PVC counts as one of a member of either API; undefined if it does not. */
function membershipOf({ metadata }: Stored<PersistentVolumeClaim>): string | undefined {
  const { ownerReferences = [], labels = {}, annotations = {} } = metadata;
  const owner = ownerReferences.find(({ apiVersion }) => groups.some((group) => apiVersion.startsWith(`${group}/`)));
  if (owner !== undefined) return `belongs to ${owner.kind} "${owner.name}"`;
  const isOurs = (key: string): boolean => groups.some((group) => key.startsWith(`${group}/`));
  const label = Object.keys(labels).find((key) => memberLabels.has(key) || isOurs(key));
  if (label !== undefined) return `belongs to a member (label ${label})`;
  const annotation = Object.keys(annotations).find(isOurs);
  return annotation && `belongs to a member (annotation ${annotation})`;
}
