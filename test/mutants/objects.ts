import { inFile } from './mutant.ts';

const act = 'src/controllers/cluster/act';

/** Preconditions of writes to PVCs, Secrets, pods and the status. */
export const objectMutants = [
  ...inFile(`${act}/create-pvc.ts`, {
    'pvc-of-a-deleted-cluster-used': {
      plants: 'a member starts on the PVC of a previous cluster with this name',
      replace: 'if (existing === undefined || isOfPreviousCluster(existing, context)) throw',
      by: 'if (existing === undefined) throw',
    },
    'pvc-of-a-removed-member-used': {
      plants: 'a new member starts on the kept PVC of a removed member',
      replace: 'if (isOfRemovedMember(existing.metadata, context.blueprint.naming)) throw',
      by: "if (existing.metadata.name === '') throw",
    },
    'foreign-pvc-used': {
      plants: 'a member starts on a PVC that a user created',
      replace: 'if (hasLabels) return existing;',
      by: 'if (hasLabels || !hasLabels) return existing;',
    },
    'used-pvc-replaced': {
      plants: 'a PVC with data is replaced because the spec asks for another kind',
      replace: "existing.status?.phase !== 'Pending' ||",
      by: '',
    },
  }),
  ...inFile(`${act}/removed-volumes.ts`, {
    'kept-volume-changed-since': {
      plants: 'a kept PVC is deleted although it has changed since its deletion was planned',
      replace: 'if (!isSame || !isRemovedFrom(there.metadata, blueprint)) throw',
      by: "if (there.metadata.name === '') throw",
    },
    'kept-volume-mounted-by-a-user': {
      plants: 'a kept PVC is deleted while a pod of a user saves its data',
      replace: 'await confirmUnmounted(there, context);',
      by: '',
    },
    'kept-volume-deleted-without-version': {
      plants: 'a kept PVC is deleted without its resourceVersion',
      replace: 'const preconditions = { uid, resourceVersion };',
      by: 'const preconditions = { uid };',
    },
    'volumes-never-kept': {
      plants: 'the PVC of a removed member is deleted at once',
      replace: '!isWorthKeeping || blueprint.intent.keepVolumesSeconds === 0',
      by: '!isWorthKeeping || blueprint.intent.keepVolumesSeconds >= 0',
    },
    'removed-volume-not-marked': {
      plants: 'the PVC of a removed member is not marked, and the next member of that name uses it',
      replace: '...removedMetadata(member, blueprint, context.controller.now())',
      by: '',
    },
    'removed-volume-marked-without-version': {
      plants: 'a PVC is marked as removed although it has changed since',
      replace: 'const metadata = { uid, resourceVersion, ...removedMetadata',
      by: 'const metadata = { uid, ...removedMetadata',
    },
  }),
  ...inFile(`${act}/secrets.ts`, {
    'secret-written-without-version': {
      plants: 'a Secret with certificates is overwritten although it has changed since it was read',
      replace: 'metadata: { uid, resourceVersion, annotations },',
      by: 'metadata: { uid, annotations },',
    },
    'secret-deleted-without-version': {
      plants: 'a Secret is deleted although it has changed since it was read',
      replace: 'const preconditions = { uid, resourceVersion };',
      by: 'const preconditions = { uid };',
    },
  }),
  ...inFile('src/controllers/cluster/tls/managed-secret.ts', {
    'foreign-secret-overwritten': {
      plants: 'a Secret of a user is overwritten or deleted because of its name',
      replace: "if (!isOwnedBy(stored, uid)) return 'foreign';",
      by: '',
    },
  }),
  ...inFile(`${act}/patch-pod.ts`, {
    'image-of-another-pod-changed': {
      plants: 'the new image reaches another pod with the same name',
      replace: "{ op: 'test', path: '/metadata/uid', value: uid },",
      by: '',
    },
    'cluster-version-not-confirmed': {
      plants: 'a member goes to the next minor before etcd has raised the cluster version',
      replace: 'await confirmClusterVersion(to, context);',
      by: '',
    },
    'version-not-recorded': {
      plants: 'the PVC does not name the version that writes its data',
      replace: 'await annotateVersion(name, { version: to, snapshotCount: count }, context);',
      by: '',
    },
    'annotations-of-another-pvc': {
      plants: 'annotations reach another PVC with the same name',
      replace: 'metadata: { uid: claim.metadata.uid, annotations }',
      by: 'metadata: { annotations }',
    },
  }),
  ...inFile(`${act}/adopt.ts`, {
    'adoption-deletes-pods': {
      plants: 'the pods of the original operator are deleted with their ReplicaSets',
      replace: "propagationPolicy: 'Orphan', signal",
      by: "propagationPolicy: 'Background', signal",
    },
    'adoption-without-the-pvc': {
      plants: 'an adopted PVC does not name the owner of its files',
      replace: '[userAnnotation(naming)]: String(userOf(pod)),',
      by: '',
    },
  }),
  ...inFile(`${act}/make-backup.ts`, {
    'foreign-backup-replaced': {
      plants: 'an EtcdBackup of a user is deleted because of its name',
      replace: 'if (!ownerReferences.some((each) => each.uid === owner)) throw',
      by: 'if (ownerReferences.length < 0) throw',
    },
  }),
  ...inFile(`${act}/release-peers.ts`, {
    'peers-released-without-the-lease': {
      plants: 'finalizers are removed although another operator leads',
      replace: 'confirmLeads(controller);',
      by: '',
    },
  }),
  ...inFile(`${act}/upkeep/pvcs.ts`, {
    'quota-is-permanent': {
      plants: 'a quota that refuses a larger PVC makes the operator replace the member',
      replace: "kind === 'forbidden' && message.includes('only dynamically provisioned pvc can be resized')",
      by: "kind === 'forbidden' && message !== ''",
    },
  }),
  ...inFile(`${act}/upkeep/peers.ts`, {
    'peer-recreated-by-the-original': {
      plants: 'an EtcdPeer is deleted before its pod is adopted, and the pod with it',
      replace: "Failure.from(thrown).kind !== 'rejected' || !mayRecreate",
      by: "Failure.from(thrown).kind !== 'rejected'",
    },
    'peer-of-another-cluster-deleted': {
      plants: 'an EtcdPeer of another cluster is deleted',
      replace: '|| existing === undefined || !isOwnedBy(existing, context.owner)) return;',
      by: '|| existing === undefined) return;',
    },
  }),
  ...inFile('src/controllers/shared/status-writer.ts', {
    'status-without-version': {
      plants: 'the status replaces what another operator has written since',
      replace: 'const body = { metadata: { resourceVersion }, status:',
      by: 'const body = { metadata: {}, status:',
    },
    'status-of-a-copied-annotation': {
      plants: 'an object copied from another takes over the status of that object',
      replace: 'return kept.uid === metadata.uid ? kept : undefined;',
      by: "return kept.uid === '' ? undefined : kept;",
    },
  }),
  ...inFile('src/apis/coreos-v1beta2/write-status.ts', {
    'observed-generation-wrong': {
      plants: 'observedGeneration is not written',
      replace: 'observedGeneration: generation,',
      by: 'observedGeneration: undefined,',
    },
    'members-forgotten-without-contact': {
      plants: 'the status forgets the members while none of them answers',
      replace: 'return before === undefined ? inherited(memory) : markUnhealthy(before);',
      by: 'return before === undefined ? inherited(memory) : [];',
    },
  }),
  ...inFile('src/apis/improbable-v1alpha1/write-status.ts', {
    'observed-generation-wrong-in-the-improbable-api': {
      plants: 'observedGeneration is not written in the improbable API',
      replace: 'observedGeneration: generation,',
      by: 'observedGeneration: undefined,',
    },
  }),
  ...inFile('src/controllers/cluster/observe/membership.ts', {
    'unreachable-is-empty': {
      plants: 'an etcd that does not answer counts as an empty one',
      replace: 'if (answers.length === 0) return unseen(failures);',
      by: "if (answers.length === 0) return { seen: true, value: { clusterId: 'none', members: [] } };",
    },
    'list-of-a-minority': {
      plants: 'the member list of one member without quorum is trusted',
      replace: 'membershipOf(await listFrom(answer), answers, clusterId)',
      by: 'membershipOf(await listFrom(answer, { linearizable: false }), answers, clusterId)',
    },
    'answer-of-another-member': {
      plants: 'a member of another cluster at a reused address is trusted',
      replace: 'if (itself === undefined || nameIn(itself) === name) return list;',
      by: 'if (itself === undefined || name !== undefined) return list;',
    },
    'leaderless-member-is-healthy': {
      plants: 'a member without a leader counts as healthy',
      replace: "status.leader !== 0n && status.clusterId === clusterId ? 'healthy' : 'lost'",
      by: "status.clusterId === clusterId ? 'healthy' : 'lost'",
    },
    'member-of-another-cluster-is-healthy': {
      plants: 'a member that answers for another cluster counts as healthy',
      replace: "status.leader !== 0n && status.clusterId === clusterId ? 'healthy' : 'lost'",
      by: "status.leader !== 0n ? 'healthy' : 'lost'",
    },
    'stopping-member-is-healthy': {
      plants: 'a member whose pod is stopping counts as healthy',
      replace: "health: 'leaving' as const",
      by: "health: 'healthy' as const",
    },
    'learner-answers-for-all': {
      plants: 'a learner confirms a settled cluster',
      replace: 'if (isLearner) return undefined;',
      by: '',
    },
    'list-of-a-learner': {
      plants: 'the member list is asked of a learner, which has none',
      replace: 'if (isLearner) continue;',
      by: 'if (isLearner && clusterId === 0n) continue;',
    },
  }),
];
