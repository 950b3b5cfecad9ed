import { type Rule, waitForUser } from '../step.ts';

/** PVCs of several etcd clusters have names of this cluster's members. No member starts until the user has chosen. */
export const waitOnAmbiguousVolumes: Rule = ({ memory: { ambiguity } }) =>
  ambiguity === undefined ? undefined : waitForUser('WrongCluster', ambiguity);
