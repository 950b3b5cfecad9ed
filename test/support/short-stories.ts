/**
 * The stories of `make test`: one for each capability, with etcd versions that build fast. The values are measured seconds on two
 * shared cores. They order the story files, longest first, if the ledger has no measurement.
 */
export const shortStorySeconds: Readonly<Record<string, number>> = {
  'a cluster of etcd 3.7.3 is created, scaled and healed': 65,
  'deleted pods of the coreos API return to their PVCs with the same member IDs': 47,
  'numbered members are added and removed with EtcdPeer, pod and PVC, and no write is lost': 73,
  'one operator manages clusters of both APIs, and refuses a name that the other API uses': 21,
  'a cluster of etcd 3.6.16 with auth enabled is scaled, healed and upgraded': 45,
  'managed certificates are issued by the operator and renewed without a restart': 83,
  'the example EtcdBackup saves to a PVC, and an EtcdRestore restores from the PVC': 104,
  'a failed pre-upgrade backup blocks the upgrade until a backup succeeds': 53,
  'an unreachable cluster of the CoreOS operator is reported and not changed': 19,
  'a paused cluster is not changed until it is resumed': 38,
  'a missing etcd version is reported, and a corrected version starts the cluster': 24,
  'a lost quorum with lost data is reported, and the last member is kept': 36,
  'a pod deleted during an outage of the operator is replaced afterwards': 17,
  'deleted Services and PodDisruptionBudgets are recreated, and changed ones reverted': 8,
  'kubectl logs, exec and attach work with a pod': 26,
  'kubectl run -it --rm opens a shell, and deletes its pod afterwards': 5,
  'a PVC keeps its data after its pod is deleted': 27,
  'Service names and headless pod names resolve and connect across nodes': 12,
  'a Deployment is scaled and a deleted pod replaced, as in chapter 1 of the book': 3,
};

export const shortStories: readonly string[] = Object.keys(shortStorySeconds);
