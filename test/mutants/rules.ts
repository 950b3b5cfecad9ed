import type { Mutant } from './mutant.ts';

/** What happens without each rule of a cluster. */
const clusterRules: Readonly<Record<string, string>> = {
  honourPause: 'a paused cluster is changed',
  waitForPermissions: 'a cluster is changed although its ReplicaSets cannot be read',
  waitOnAmbiguousVolumes: 'members start on PVCs of several etcd clusters',
  issueDueCertificates: 'certificates are neither issued nor renewed',
  stageCertificates: 'new certificates never reach the member Secret',
  waitForSecrets: 'a cluster is created before the Secrets of its spec are valid',
  recordBootstrap: 'the bootstrap members of a new cluster are not recorded',
  adoptCluster: 'the pods of another operator are not adopted',
  recordFormation: 'the cluster ID is neither recorded nor compared',
  startBootstrapMembers: 'the bootstrap members are not started',
  restartOnOwnVolume: 'a lost pod is not restarted on its PVC',
  startUnconfirmedMember: 'a second voter that never ran is not started without quorum',
  replaceExpiredCertificates: 'members with expired certificates of an old CA are not restarted',
  correctUnreachable: 'a mistake in the spec cannot be corrected without quorum',
  forbidRebootstrap: 'a member that has joined may start again from an empty volume',
  holdWhileCorrupt: 'members are changed while the alarm CORRUPT is raised',
  deleteOrphans: 'the pods of removed members stay',
  shrinkByOne: 'a cluster never shrinks',
  startJoiningMember: 'the pod of an added member is not started',
  replaceDeadMember: 'a dead member is not replaced',
  correctUnhealthy: 'a corrected spec is not applied to a member that is down',
  promoteLearner: 'a learner is never promoted',
  waitForUnhealthy: 'members are added and rolled while a member is down',
  holdForSecrets: 'members are rolled while a Secret is invalid',
  prepareSecondVoter: 'before etcd 3.4 a second voter is added before its pod runs',
  growByOne: 'a cluster never grows',
  waitForTurn: 'all clusters roll at once',
  waitForAlarms: 'an upgrade starts while an alarm is raised',
  backUpBeforeUpgrade: 'an upgrade starts without the backup that the spec requires',
  announceClientMigration: 'client TLS changes before the status reports it',
  rollOne: 'a change of the spec does not reach running members',
  waitForCertificates: 'a cluster counts as settled while a member serves an old certificate',
  dropSecrets: 'unused Secrets with keys stay',
  deleteRemovedVolumes: 'the PVC of a removed member is kept for ever',
  waitForVolumes: 'a cluster counts as settled while a PVC is resized',
  reportUnneededSecret: 'an invalid Secret of the etcd user is not reported',
};

/** What happens without each rule of the objects around members. */
const upkeepRules: Readonly<Record<string, string>> = {
  keepServices: 'Services are neither created nor corrected',
  keepBudget: 'the PodDisruptionBudget is neither created nor corrected',
  keepPeers: 'EtcdPeers are neither created nor deleted',
  keepPvcOwners: 'PVCs have no owner and no record of their cluster',
  restoreHidden: 'a pod without labels, which no cache shows, stays without them',
  keepLabels: 'lost labels of pods and PVCs are not restored',
  keepServing: 'the client Service leads to learners and to members that are about to stop',
  growPvcs: 'a PVC does not grow with the spec',
};

const kebab = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** In the array a remark, which ends with a full stop, stands before each rule. */
const without =
  (file: string) =>
  ([rule, plants]: readonly [string, string]): Mutant => ({
    name: `without-${kebab(rule)}`,
    plants,
    file,
    replace: `. ${rule},`,
    by: '.\n',
  });

export const ruleMutants: readonly Mutant[] = [
  ...Object.entries(clusterRules).map(without('src/core/cluster/plan/plan-cluster.ts')),
  ...Object.entries(upkeepRules).map(without('src/core/cluster/plan/upkeep/plan-upkeep.ts')),
];
