import type { DiskMark } from '../model/kept-disks.ts';
import type { CarrierName } from '../model/names.ts';
import type { MemberTemplate, Naming } from '../model/template.ts';
import { fingerprint } from './fingerprint.ts';
import type { Blueprint, Manifest } from './manifest.ts';

/** A member's own disk, under its own name. It remembers which version ran on it last. */
export function memberClaim(blueprint: Blueprint, name: CarrierName, version: string): Manifest | undefined {
  const { intent, owner, naming, template, disksOutlive } = blueprint;
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
        [claimAnnotation(naming)]: claimMark(template),
        [peerSchemeAnnotation(naming)]: schemeIn(intent.peerURLOf(name)),
      },
      ownerReferences: disksOutlive ? [] : [owner],
    },
    spec: template.claim,
  };
}

/** What a claim says to whoever finds it without its cluster. */
export const markedWith = ({ clusterId, members }: DiskMark, naming: Naming): Readonly<Record<string, string>> => ({
  [clusterIdAnnotation(naming)]: clusterId,
  [membersAnnotation(naming)]: members.join(','),
});

export function markIn(annotations: Readonly<Record<string, string>>, naming: Naming): DiskMark | undefined {
  const clusterId = annotations[clusterIdAnnotation(naming)];
  if (!clusterId) return undefined;
  const members = (annotations[membersAnnotation(naming)] ?? '').split(',').filter(Boolean) as CarrierName[];
  return { clusterId, members };
}

const clusterIdAnnotation = ({ prefix }: Naming): string => `${prefix}/cluster-id`;
const membersAnnotation = ({ prefix }: Naming): string => `${prefix}/members`;

/** On a claim: how the others will look for its member, whose pod must listen like that when nobody is there to ask. */
export const peerSchemeAnnotation = ({ prefix }: Naming): string => `${prefix}/peer-scheme`;

export const schemeIn = (url: string): string => url.split(':')[0] ?? '';

/** On a claim that another operator has made: the user whose files are on it. */
export const userAnnotation = ({ prefix }: Naming): string => `${prefix}/user`;

/** The originals have their members run as root. */
const originalUser = 0;

/** The user whose files are on a disk that was not made by us; nobody where it was. */
export function userOn(annotations: Readonly<Record<string, string>>, naming: Naming): number | undefined {
  const noted = annotations[userAnnotation(naming)];
  if (noted !== undefined) return Number(noted) || originalUser;
  return annotations[claimAnnotation(naming)] === undefined ? originalUser : undefined;
}

/** On a claim that was asked to grow to this size, and refused. */
export const cannotGrowAnnotation = ({ prefix }: Naming): string => `${prefix}/cannot-grow-to`;

export const claimAnnotation = ({ prefix }: Naming): string => `${prefix}/claim`;

/** Changes when another kind of disk is asked for. A larger one is the same kind: it can grow. */
export function claimMark({ claim }: MemberTemplate): string {
  const { resources: _size, ...kind } = claim ?? {};
  return fingerprint(kind);
}

/** How large a disk is asked for, as it was written. */
export function storageOf({ claim }: { readonly claim?: object | undefined }): string | undefined {
  const { resources } = (claim ?? {}) as { resources?: { requests?: { storage?: string | number } } };
  const storage = resources?.requests?.storage;
  return storage === undefined ? undefined : String(storage);
}
