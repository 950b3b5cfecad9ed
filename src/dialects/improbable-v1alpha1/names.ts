import { clusterNameRules, notLonger } from '../names.ts';
import { looksLike, ruled, text } from '../rule.ts';

export const group = 'etcd.improbable.io';
export const version = 'v1alpha1';

/** Beginning of the names of labels and annotations that are the operator's. */
export const ownPrefix = `${group}/`;

/** On a cluster: the restore, by its uid, for which the operator is to stand aside. */
export const holdAnnotation = `${group}/restoring`;

/** With `-client` appended, the name of a Service: a DNS label of 63. Members have less appended. */
export const longestClusterName = 56;

export const clusterNames = clusterNameRules(longestClusterName);

/** Pods and volumes have the name of their EtcdPeer, and pods are found by it in DNS. */
export const peerNames = [notLonger('peer', 63)];

export const clusterName = ruled(
  text(63),
  looksLike(
    /^[a-z]([-a-z0-9]*[a-z0-9])?$/,
    "must be the name of a cluster: small letters, digits and '-', with a letter first and no '-' last",
  ),
);

/** Of a member that was found by its peer URL, or is to be found there. */
export const hostOf = (member: string, cluster: string, namespace: string): string =>
  `${member}.${cluster}.${namespace}.svc`;
