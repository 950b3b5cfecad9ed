import type { StorePlace } from '../../core/model/store-place.ts';
import { coreos } from '../../dialects/coreos-v1beta2/dialect.ts';
import { improbable } from '../../dialects/improbable-v1alpha1/dialect.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { PersistentVolumeClaim, Stored } from '../../kube/object.ts';
import { persistentVolumeClaims } from '../../kube/resource.ts';
import { Failure } from '../../std/failure.ts';
import { addressOf } from '../agents/store-access.ts';

const groups = [coreos.group, improbable.group];
/** Labels of members that begin with no group's name. */
const memberLabels: ReadonlySet<string> = new Set(['etcd_cluster', 'etcd_node']);

/** Opts a PersistentVolumeClaim in as a place for backups. */
export const backupVolumeLabel = 'etcd-operator/backups';

/**
 * Why no backup is written to a volume, if there is a reason. Only a PersistentVolumeClaim with the label for backups is written
 * to: the right to create an EtcdBackup does not give the right to change data of other applications.
 */
export async function refusalOfBackupVolume(
  place: StorePlace,
  namespace: string,
  tools: { readonly client: Pick<KubeClient, 'get'> },
): Promise<string | undefined> {
  return refusal(place, namespace, {
    ...tools,
    judge: (claim) => memberRefusal(place, claim) ?? optInRefusal(place, claim),
  });
}

/** Why a volume is not read, if there is a reason: a volume of a member holds a data directory. */
export async function refusalOfClaim(
  place: StorePlace,
  namespace: string,
  tools: { readonly client: Pick<KubeClient, 'get'> },
): Promise<string | undefined> {
  return refusal(place, namespace, { ...tools, judge: (claim) => memberRefusal(place, claim) });
}

type Claim = Stored<PersistentVolumeClaim>;

const memberRefusal = (place: StorePlace, claim: Claim): string | undefined => {
  const why = membershipOf(claim);
  return (
    why && `${place.field}: PersistentVolumeClaim "${claim.metadata.name}" ${why}: name one that is for backups only`
  );
};

const optInRefusal = ({ field }: StorePlace, { metadata: { name, labels } }: Claim): string | undefined =>
  labels?.[backupVolumeLabel] === 'true'
    ? undefined
    : `${field}: PersistentVolumeClaim "${name}" is not labelled for backups: ` +
      `kubectl label pvc ${name} ${backupVolumeLabel}=true`;

interface Judging {
  readonly client: Pick<KubeClient, 'get'>;
  readonly judge: (claim: Claim) => string | undefined;
}

async function refusal(place: StorePlace, namespace: string, { client, judge }: Judging): Promise<string | undefined> {
  const { kind, bucket: name } = addressOf(place).store;
  if (kind !== 'file') return undefined;
  try {
    return judge(await client.get(persistentVolumeClaims, { namespace, name }));
  } catch (thrown) {
    const { kind: failure, message } = Failure.from(thrown);
    // A pod that waited for the claim would get whatever is made under its name later, be it a member's.
    if (failure === 'not-found') return `${place.field}: ${missing(name, namespace)}`;
    if (failure === 'forbidden') return message;
    throw thrown;
  }
}

const missing = (name: string, namespace: string): string =>
  `PersistentVolumeClaim "${name}" is not there: create it in namespace "${namespace}"`;

/** What makes a claim one of a member, of either API; nothing if it is none. */
function membershipOf({ metadata }: Stored<PersistentVolumeClaim>): string | undefined {
  const { ownerReferences = [], labels = {}, annotations = {} } = metadata;
  const owner = ownerReferences.find(({ apiVersion }) => groups.some((group) => apiVersion.startsWith(`${group}/`)));
  if (owner !== undefined) return `belongs to ${owner.kind} "${owner.name}"`;
  const isOurs = (key: string): boolean => groups.some((group) => key.startsWith(`${group}/`));
  const label = Object.keys(labels).find((key) => memberLabels.has(key) || isOurs(key));
  if (label !== undefined) return `is a member's, as its label ${label} says`;
  const annotation = Object.keys(annotations).find(isOurs);
  return annotation && `is a member's, as its annotation ${annotation} says`;
}
