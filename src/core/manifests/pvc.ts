import type { MemberName } from '../cluster/model/names.ts';
import type { VolumeRecord } from '../cluster/model/retained-pvcs.ts';
import type { MemberTemplate, Naming } from '../cluster/model/template.ts';
import type { Blueprint, Manifest } from './manifest.ts';
import { fingerprint } from './template-hash.ts';

/** The PVC of a member. Its annotations record the last version that ran on it. */
export function memberClaim(blueprint: Blueprint, name: MemberName, version: string): Manifest | undefined {
  const { intent, owner, naming, template, volumesOutlive } = blueprint;
  if (template.claim === undefined) return undefined;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace: intent.namespace,
      labels: { ...naming.clusterLabels, [naming.memberLabel]: name },
      annotations: {
        [naming.versionAnnotation]: version,
        [claimAnnotation(naming)]: volumeKindHash(template),
        [peerSchemeAnnotation(naming)]: schemeIn(intent.peerURLOf(name)),
      },
      ownerReferences: volumesOutlive ? [] : [owner],
    },
    spec: template.claim,
  };
}

/** Annotations that identify the cluster of a PVC after the EtcdCluster is deleted. */
export const volumeRecordAnnotations = (
  { clusterId, members }: VolumeRecord,
  naming: Naming,
): Readonly<Record<string, string>> => ({
  [clusterIdAnnotation(naming)]: clusterId,
  [membersAnnotation(naming)]: members.join(','),
});

export function volumeRecordIn(
  annotations: Readonly<Record<string, string>>,
  naming: Naming,
): VolumeRecord | undefined {
  const clusterId = annotations[clusterIdAnnotation(naming)];
  if (!clusterId) return undefined;
  const members = (annotations[membersAnnotation(naming)] ?? '').split(',').filter(Boolean) as MemberName[];
  return { clusterId, members };
}

const clusterIdAnnotation = ({ prefix }: Naming): string => `${prefix}/cluster-id`;
const membersAnnotation = ({ prefix }: Naming): string => `${prefix}/members`;

/** On a PVC: the scheme of the member's registered peer URL, for a restart while etcd does not answer. */
export const peerSchemeAnnotation = ({ prefix }: Naming): string => `${prefix}/peer-scheme`;

/**
 * On a PVC: set before a bootstrap member starts on a PVC that exists. An earlier pod may have run on it and formed the
 * cluster, so a pod that has never run proves nothing about its data.
 */
export const reusedAnnotation = ({ prefix }: Naming): string => `${prefix}/reused`;

export const isReused = (annotations: Readonly<Record<string, string>>, naming: Naming): boolean =>
  annotations[reusedAnnotation(naming)] !== undefined;

export const schemeIn = (url: string): string => url.split(':')[0] ?? '';

/** On an adopted PVC: the UID that owns its files. */
export const userAnnotation = ({ prefix }: Naming): string => `${prefix}/user`;

/** The original operators run etcd as root. */
const originalUser = 0;

/** The UID that owns the files on an adopted PVC; undefined for a PVC that this operator created. */
export function userOn(annotations: Readonly<Record<string, string>>, naming: Naming): number | undefined {
  const noted = annotations[userAnnotation(naming)];
  if (noted !== undefined) return Number(noted) || originalUser;
  return annotations[claimAnnotation(naming)] === undefined ? originalUser : undefined;
}

/** On a PVC: a size to which the resize was refused. */
export const cannotGrowAnnotation = ({ prefix }: Naming): string => `${prefix}/cannot-grow-to`;

export const claimAnnotation = ({ prefix }: Naming): string => `${prefix}/pvc-template-hash`;

/** Changes with the claim template, apart from its size: a PVC can be resized. */
export function volumeKindHash({ claim }: MemberTemplate): string {
  const { resources: _size, ...kind } = claim ?? {};
  return fingerprint(kind);
}

/** The requested size of a PVC, as written in the spec. */
export function storageOf({ claim }: { readonly claim?: object | undefined }): string | undefined {
  const { resources } = (claim ?? {}) as { resources?: { requests?: { storage?: string | number } } };
  const storage = resources?.requests?.storage;
  return storage === undefined ? undefined : String(storage);
}
