import { inFile } from './mutant.ts';

const plan = 'src/core/cluster/plan';

/** PVCs of members, of removed members and of deleted clusters, and the objects around members. */
export const volumeMutants = [
  ...inFile('src/core/cluster/model/removed-volumes.ts', {
    'kept-volume-deleted-at-first-sight': {
      plants: 'the PVC of a removed member is deleted at the first observation',
      replace: 'if (observations < fewestObservations) return false;',
      by: '',
    },
    'grace-time-by-a-foreign-clock': {
      plants: 'the time stamp of another machine alone ends the grace time of a PVC',
      replace: '&& millis >= Math.min(grace, ownWatchMillis)',
      by: '',
    },
  }),
  ...inFile(`${plan}/scale/delete-removed-volumes.ts`, {
    'kept-volumes-deleted-while-unwell': {
      plants: 'PVCs of removed members are deleted while the cluster is not healthy',
      replace: 'if (!isWell(world)) return undefined;',
      by: '',
    },
    'mounted-kept-volume-deleted': {
      plants: 'the PVC of a removed member is deleted while a pod mounts it',
      replace: '!volume.isMounted &&',
      by: '',
    },
  }),
  ...inFile('src/core/cluster/model/retained-pvcs.ts', {
    'ambiguous-volumes-accepted': {
      plants: 'PVCs of two etcd clusters are taken for one cluster',
      replace: 'if (other !== undefined) return { ...memory, ambiguity: ambiguityOf(first, other) };',
      by: '',
    },
    'foreign-volume-is-ours': {
      plants: 'a PVC of a user counts as the PVC of a member',
      replace: 'volume.record === undefined ? !volume.isOurs :',
      by: 'volume.record === undefined ? false :',
    },
    'voters-by-the-rarest-record': {
      plants: 'the voters are read from the record that the fewest PVCs have',
      replace: 'b.length - a.length ||',
      by: 'a.length - b.length ||',
    },
  }),
  ...inFile(`${plan}/upkeep/pvc-owners.ts`, {
    'pvcs-changed-during-a-restore': {
      plants: 'owners of PVCs change while a restore holds the cluster',
      replace: '|| intent.heldBy !== undefined) return [];',
      by: ') return [];',
    },
    'foreign-pvc-owned': {
      plants: 'a PVC that names another cluster gets this cluster as owner',
      replace: 'if (namesAnotherCluster(existing, world) && Object.keys(annotations).length === 0) return [];',
      by: '',
    },
    'record-of-a-silent-member': {
      plants: 'a PVC is annotated with a cluster that its member has not joined',
      replace: "member.name === name && member.health === 'healthy'",
      by: 'member.name === name',
    },
    'pvcs-owned-before-formation': {
      plants: 'PVCs get an owner before the cluster is known',
      replace: 'if (world.memory.clusterId === undefined) return [];',
      by: '',
    },
  }),
  ...inFile(`${plan}/upkeep/plan-upkeep.ts`, {
    'upkeep-while-paused': {
      plants: 'objects around members are written while the cluster is paused',
      replace: "if (world.intent.paused) return 'release';",
      by: '',
    },
    'upkeep-before-adoption': {
      plants: 'objects of another operator are changed before its member list is known',
      replace: "return isAdoptionUnconfirmed ? 'none' : 'all';",
      by: "return isAdoptionUnconfirmed ? 'all' : 'all';",
    },
  }),
  ...inFile(`${plan}/upkeep/peers.ts`, {
    'peers-deleted-without-contact': {
      plants: 'EtcdPeers are deleted while etcd does not answer',
      replace: 'if (!world.membership.seen) return [];',
      by: '',
    },
    'peer-recreated-before-adoption': {
      plants: 'an EtcdPeer of the original operator is deleted, and its pod with it',
      replace: 'const mayRecreate = isOurs(memory);',
      by: 'const mayRecreate = isOurs(memory) || name !== undefined;',
    },
    'finalizer-removed-before-adoption': {
      plants: 'the annotation of a PVC marks a cluster as adopted before its pods are',
      replace: 'if (world.membership.seen && world.memory.clusterId === undefined) return [];',
      by: '',
    },
    'foreign-peer-corrected': {
      plants: 'an EtcdPeer of another cluster is changed',
      replace: "if (!isOwnedBy(peer, intent.uid)) return [problem('peers', foreignPeer(name, kind))];",
      by: '',
    },
  }),
  ...inFile(`${plan}/upkeep/labels.ts`, {
    'pvc-of-a-restore-relabelled': {
      plants: 'a PVC that a restore has set aside gets the labels of a member again',
      replace: 'if (ownerReferences.length > 0) return isOwnedBy(volume, intent.uid);',
      by: '',
    },
    'pvc-of-a-removed-member-relabelled': {
      plants: 'the PVC of a removed member gets the labels of a member again',
      replace: 'if (deletionTimestamp !== undefined || isOfRemovedMember(volume.metadata, naming)) return false;',
      by: '',
    },
  }),
  ...inFile(`${plan}/upkeep/pvc-sizes.ts`, {
    'refused-growth-repeated': {
      plants: 'a growth that the StorageClass refuses is tried again in each pass',
      replace: '&& metadata.annotations?.[annotation] !== storage',
      by: '',
    },
  }),
];
