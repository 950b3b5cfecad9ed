import { inFile } from './mutant.ts';

/** Restores. */
export const restoreMutants = [
  ...inFile('src/core/restore/proving.ts', {
    'unproven-backup-accepted': {
      plants: 'a failed check of the backup counts as passed',
      replace: 'if (!ok) return failInvalid(world, message);',
      by: '',
    },
    'store-outage-fails-a-restore': {
      plants: 'a store that is unreachable for a moment fails the restore',
      replace: 'wasInterrupted === true || mayPass === true',
      by: 'wasInterrupted === true && mayPass === true',
    },
    'revision-bump-unsupported': {
      plants: 'a revision bump is asked of an etcd that ignores it',
      replace: 'if (intent.revisionBump === undefined || canLeapRevisions(version)) return undefined;',
      by: 'if (intent.revisionBump !== 0n as never) return undefined;',
    },
  }),
  ...inFile('src/core/restore/seeding.ts', {
    'old-member-is-the-seed': {
      plants: 'a member with the old data is taken for the seed',
      replace: '(clusterId !== undefined && found.clusterId === clusterId)',
      by: '(clusterId !== undefined && found.clusterId === undefined)',
    },
    'seed-takes-the-name-of-a-member': {
      plants: 'the seed takes a name that a member has by now',
      replace: 'if (cluster.isSeedNameTaken === true) return withAnotherName(name, world);',
      by: '',
    },
    'damaged-backup-found-in-parallel': {
      plants: 'a restore goes on although the parallel check finds the backup damaged',
      replace: '?? served(found) ?? invalidByCheck(world)',
      by: '?? served(found)',
    },
    'refused-seed-is-waited-for': {
      plants: 'a seed that refuses the backup is waited for',
      replace: "return found.state === 'refused' ? failInvalid(world, found.why) : waitForSeed(found, world);",
      by: 'return waitForSeed(found, world);',
    },
    'seed-never-fails': {
      plants: 'a seed that cannot start is waited for without end',
      replace: 'if (isTooLong || now - memory.since > seedingSeconds * 1000) return fail(',
      by: 'if (isTooLong && now < memory.since) return fail(',
    },
  }),
  ...inFile('src/core/restore/switching.ts', {
    'restore-ignores-the-hold': {
      plants: 'a restore does not wait until the cluster controller pauses',
      replace:
        "return cluster.heldBy === intent.uid ? undefined : wait('waiting for the cluster controller to pause');",
      by: 'return undefined;',
    },
    'two-restores-of-one-cluster': {
      plants: 'a restore works on a cluster that another restore holds',
      replace:
        "if (cluster.holdAskedBy !== intent.uid) return wait('waiting for another restore of the same cluster');",
      by: '',
    },
    'restore-without-finalizer': {
      plants: 'an EtcdRestore that has stopped members can be deleted without a clean-up',
      replace: "if (!isPinned) return act({ kind: 'pin' }, 'adding a finalizer to the EtcdRestore');",
      by: '',
    },
    'old-members-stopped-before-the-seed-serves': {
      plants: 'the old members are stopped although the seed does not serve',
      replace: 'keepSeed(world, cluster) ?? stopOldMembers(cluster) ??',
      by: 'stopOldMembers(cluster) ?? keepSeed(world, cluster) ??',
    },
    'hand-over-beside-old-members': {
      plants: 'the seed replaces the old members while they still stop',
      replace: 'if (leaving.length > 0) return wait(`waiting for old members to stop',
      by: 'if (leaving.length < 0) return wait(`waiting for old members to stop',
    },
    'lost-node-blocks-a-restore': {
      plants: 'a restore waits for an old pod on a lost node for ever',
      replace: 'oldPods.filter(({ isOverdue }) => isOverdue !== true)',
      by: 'oldPods.filter(({ name }) => name.length >= 0)',
    },
    'old-pvcs-not-set-aside': {
      plants: 'the cluster takes the PVCs of old members for its own after a restore',
      replace: 'if (oldClaims.length === 0) return undefined;',
      by: 'if (oldClaims.length >= 0) return undefined;',
    },
    'new-cluster-id-not-recorded': {
      plants: 'the status keeps the cluster ID from before the restore',
      replace: 'if (memory.clusterId !== undefined && clusterId !== memory.clusterId)',
      by: 'if (memory.clusterId !== undefined && clusterId === undefined)',
    },
    'name-conflict-during-the-switch': {
      plants: 'a restore replaces a cluster of another API that has taken the name',
      replace: 'refused(world) ?? holdCluster(world, cluster) ??',
      by: 'holdCluster(world, cluster) ??',
    },
  }),
  ...inFile('src/core/restore/growing.ts', {
    'old-volumes-dropped-early': {
      plants: 'the old PVCs are given up before the cluster has its full size',
      replace: 'if (!cluster.isSettled) return waitForSize(cluster, intent.cluster);',
      by: '',
    },
    'another-cluster-completes-a-restore': {
      plants: 'a cluster that was created again meanwhile completes the restore',
      replace: 'if (cluster.clusterId !== memory.clusterId) return fail(',
      by: "if (cluster.clusterId === 'none') return fail(",
    },
    'hold-never-released': {
      plants: 'the cluster stays paused after its restore',
      replace:
        "if (cluster.holdAskedBy === intent.uid) return act({ kind: 'release-cluster' }, 'releasing the cluster');",
      by: '',
    },
  }),
  ...inFile('src/core/restore/clean-up.ts', {
    'failed-restore-keeps-the-hold': {
      plants: 'a failed restore keeps the cluster paused',
      replace: 'releaseCluster(world) ?? deleteSeed(world)',
      by: 'deleteSeed(world)',
    },
    'failed-restore-leaves-the-seed': {
      plants: 'a failed restore leaves its seed behind',
      replace: 'releaseCluster(world) ?? deleteSeed(world)',
      by: "releaseCluster(world) ?? (world.isPinned ? deleteSeed(world) : { is: 'over' })",
    },
    'old-data-deleted-at-once': {
      plants: 'the PVCs of the old members are deleted although the spec keeps removed volumes',
      replace: 'keepsVolumes ? act(',
      by: 'keepsVolumes === undefined ? act(',
    },
  }),
  ...inFile('src/core/restore/lost-cluster.ts', {
    'replaced-cluster-is-lost': {
      plants: 'a cluster that the restore itself creates counts as deleted',
      replace: '!world.isClusterGone || isYetToBeMade(world)',
      by: '!world.isClusterGone',
    },
  }),
  ...inFile('src/controllers/restore/act/perform.ts', {
    'hold-without-version': {
      plants: 'two restores take the hold of a cluster at the same time',
      replace: 'metadata: { uid, resourceVersion, annotations: { [controller.dialect.holdAnnotation]: by } }',
      by: 'metadata: { uid, annotations: { [controller.dialect.holdAnnotation]: by } }',
    },
    'token-of-the-old-cluster': {
      plants: 'two restores of one cluster share a token, and their members can meet',
      replace: '`${namespace}.${cluster}.${uid}`',
      by: '`${namespace}.${cluster}`',
    },
    'seed-on-a-terminating-pvc': {
      plants: 'the seed is created on a PVC that is being deleted',
      replace: 'if (claim?.metadata.deletionTimestamp !== undefined) throw',
      by: "if (claim?.metadata.name === '') throw",
    },
    'hand-over-without-pvc': {
      plants: 'a hand-over counts as done although the restore has no PVC',
      replace: 'if (claim === undefined) throw new Failure(',
      by: "if (claim === undefined) return; if (claim.metadata.uid === '') throw new Failure(",
    },
    'manifest-of-another-backup': {
      plants: 'a new cluster gets its spec from the manifest of another backup',
      replace: "usesSavedSpec(read) && read.intent.into === 'new'",
      by: "usesSavedSpec(read) && read.intent.into !== 'new'",
    },
  }),
  ...inFile('src/controllers/restore/act/discard.ts', {
    'foreign-object-discarded': {
      plants: 'a member that has the name of the seed by now is deleted',
      replace: 'found !== undefined && isMadeFor(found, intent, controller) ? found : undefined',
      by: 'found !== undefined && intent.name !== undefined ? found : undefined',
    },
  }),
  ...inFile('src/controllers/restore/act/old-volumes.ts', {
    'set-aside-without-owner': {
      plants: 'PVCs that were set aside still belong to the cluster',
      replace: 'ownerReferences: [read.owner]',
      by: 'ownerReferences: undefined',
    },
    'kept-old-volume-not-marked': {
      plants: 'PVCs of old members come back as PVCs of members',
      replace: 'metadata: { uid, ...kept, labels }',
      by: 'metadata: { uid, labels: { ...labels, ...kept.labels } }',
    },
  }),
  ...inFile('src/core/restore/plan-restore.ts', {
    'deleted-cluster-is-created-again': {
      plants: 'a cluster that is deleted during its restore is restored all the same',
      replace: 'return lostCluster(world) ?? withCluster(world, replaceOldMembers);',
      by: 'return withCluster(world, replaceOldMembers);',
    },
  }),
  ...inFile('src/core/restore/certificates.ts', {
    'seed-secrets-stay-with-the-seed': {
      plants: 'the certificates of a new cluster stay with its seed pod, and are deleted with it',
      replace: 'if (seedSecrets.length > 0)',
      by: 'if (seedSecrets.length < 0)',
    },
  }),
  ...inFile('src/core/restore/store-proxy.ts', {
    'reader-without-store-proxy': {
      plants: "an agent that needs the operator's credentials starts before its store proxy",
      replace: "storeProxy === undefined && intent.credentials === 'operators' &&",
      by: "storeProxy !== undefined && intent.credentials === 'operators' &&",
    },
    'refused-store-proxy-stays': {
      plants: "a store proxy keeps the operator's credentials although its object is no longer allowed",
      replace: 'if (refusal !== undefined) return refuse(refusal, pod);',
      by: 'if (refusal !== undefined) return blocked(refusal);',
    },
  }),
  ...inFile('src/controllers/restore/act/store-proxy.ts', {
    'store-proxy-access-without-version': {
      plants: 'the address of a store proxy is written over a Secret that was recreated meanwhile',
      replace: 'metadata: { uid, resourceVersion }, data: wanted.data',
      by: 'metadata: {}, data: wanted.data',
    },
  }),
];
