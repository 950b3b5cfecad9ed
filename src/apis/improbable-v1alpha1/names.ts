import { clusterNameRules, notLonger } from '../common/schema/names.ts';
import { looksLike, text, withRules } from '../common/schema/rule.ts';

export const group = 'etcd.improbable.io';
export const version = 'v1alpha1';

/** The prefix of labels and annotations that are reserved for the operator. */
export const ownPrefix = `${group}/`;

/** The annotation on a cluster with the UID of the restore that pauses it. */
export const holdAnnotation = `${group}/restoring`;

/** With `-client` appended this is the name of a Service: a DNS label of 63. Member suffixes are shorter. */
export const longestClusterName = 56;

export const nameRulesOfClusters = clusterNameRules(longestClusterName);

/** Pods and PVCs have the name of their EtcdPeer, which is also the DNS name of the pod. */
export const nameRulesOfPeers = [notLonger('peer', 63)];

export const clusterName = withRules(
  text(63),
  looksLike(
    /^[a-z]([-a-z0-9]*[a-z0-9])?$/,
    "must be the name of a cluster: lower-case letters, digits and '-', with a letter first and no '-' last",
  ),
);

/** The host name of a member in its peer URL. */
export const hostOf = (member: string, cluster: string, namespace: string): string =>
  `${member}.${cluster}.${namespace}.svc`;
