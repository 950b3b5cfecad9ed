import { inFile } from './mutant.ts';

const act = 'src/controllers/cluster/act';

/** Preconditions of the steps that change members and pods. */
export const stepMutants = [
  ...inFile('src/controllers/shared/writer.ts', {
    'removal-without-version': {
      plants: 'an object is removed although it has changed since the removal was planned',
      replace: 'preconditions: { uid, resourceVersion: version }',
      by: 'preconditions: { uid }',
    },
    'removal-without-uid': {
      plants: 'a pod is removed by its name, whatever its UID',
      replace: 'preconditions: { uid, resourceVersion: version }',
      by: 'preconditions: { resourceVersion: version }',
    },
    'removal-without-a-live-read': {
      plants: 'an object is removed as the cache shows it, without a read',
      replace: '(await versionToRemove(client.get(resource, at, how), { uid, known }))',
      by: 'known?.metadata.resourceVersion',
    },
    'write-in-a-foreign-namespace': {
      plants: 'an object in the namespace of another user is written',
      replace: 'if (allowed.includes(namespace)) return;',
      by: 'if (allowed.length > 0) return;',
    },
    'own-writes-forgotten': {
      plants: 'the next pass does not wait for objects that this operator has written',
      replace: 'if (store !== undefined) expectations.wrote(key, store, object);',
      by: '',
    },
    'own-removals-forgotten': {
      plants: 'the next pass does not wait for objects that this operator has removed',
      replace: 'if (store !== undefined && known !== undefined) expectations.removed(key, store, known);',
      by: '',
    },
  }),
  ...inFile(`${act}/live-version.ts`, {
    'removal-of-another-object': {
      plants: 'another object with the name of a removed one is removed',
      replace: 'if (metadata.uid !== uid) throw',
      by: "if (metadata.uid === '') throw",
    },
    'removal-of-a-changed-object': {
      plants: 'an object is removed on the evidence of an outdated cache',
      replace: 'if (known?.metadata.uid === uid && !isDeepStrictEqual(partsOf(object), partsOf(known))) throw',
      by: "if (known?.metadata.uid === '') throw",
    },
  }),
  ...inFile('src/controllers/cluster/reconcile.ts', {
    'own-unseen-writes-ignored': {
      plants: 'a pass does not wait until the caches show the last write',
      replace: 'if (!context.caughtUp(key)) {',
      by: "if (key === '') {",
    },
    'bootstrap-members-recorded-late': {
      plants: 'the bootstrap members are not written to the status at once',
      replace: 'return recordsMemory(verdict) || haveStepsLasted(times);',
      by: 'return haveStepsLasted(times);',
    },
    'hidden-objects-not-searched': {
      plants: 'quorum counts as lost before pods without labels are searched',
      replace: 'if (!needsHidden(verdict, observed.world)) return { observed, verdict };',
      by: "if (verdict.is !== 'settled') return { observed, verdict };",
    },
  }),
  ...inFile(`${act}/act.ts`, {
    'removal-before-the-record-of-voters': {
      plants: 'a live member is removed although the PVCs still name the old voters',
      replace: 'if (upkeep.ofClaims !== undefined && needsPvcAnnotations(step)) throw upkeep.ofClaims;',
      by: '',
    },
    'step-on-an-old-observation': {
      plants: 'a step is taken on an observation of any age',
      replace: 'confirmFresh(step, target, context);',
      by: '',
    },
  }),
  ...inFile(`${act}/freshness.ts`, {
    'removal-on-an-old-observation': {
      plants: 'a member is removed although others may have failed since they were observed',
      replace: "'remove-member': true,",
      by: "'remove-member': false,",
    },
    'restart-on-an-old-observation': {
      plants: 'a pod is stopped although others may have failed since they were observed',
      replace: "'stop-member-pod': true,",
      by: "'stop-member-pod': false,",
    },
    'upgrade-on-an-old-observation': {
      plants: 'an image is changed although other members may have failed since they were observed',
      replace: "'change-image': true,",
      by: "'change-image': false,",
    },
  }),
  ...inFile(`${act}/confirm-death.ts`, {
    'death-not-confirmed': {
      plants: 'a dead member is removed without a look at its pod and PVC',
      replace: "if (because === 'dead') await confirmLoss(name, context);",
      by: '',
    },
    'removal-from-another-member-list': {
      plants: 'a member is removed although the member list has changed since',
      replace: 'if (members.some((each) => each.id === id) && !isSame) throw',
      by: 'if (members.length < 0 && !isSame) throw',
    },
    'promotion-since-the-plan-ignored': {
      plants: 'a member is removed although a learner has become a voter since',
      replace: "planned.some((known) => known.id === id && (known.role === 'learner') === isLearner)",
      by: 'planned.some((known) => known.id === id || isLearner === undefined)',
    },
    'recreated-pod-is-dead': {
      plants: 'a member is removed although another pod of it runs by now',
      replace: "if (pod.metadata.uid !== uid) return 'another pod now';",
      by: '',
    },
    'recovered-pod-is-dead': {
      plants: 'a member is removed although its pod is ready by now',
      replace: "isReady(pod) && pod.metadata.deletionTimestamp === undefined ? 'ready now' : undefined",
      by: "isReady(pod) && uid === '' ? 'ready now' : undefined",
    },
    'lost-pod-with-data-is-dead': {
      plants: 'a member is removed although only its pod is gone, and its PVC exists',
      replace: "phase !== 'gone' && volume === 'own' ? 'gone, and its volume exists' : undefined",
      by: "phase === 'gone' && volume === 'lost' ? 'gone, and its volume exists' : undefined",
    },
  }),
  ...inFile(`${act}/live-checks.ts`, {
    'hidden-pvc-is-lost': {
      plants: 'a PVC that the cache does not show counts as lost',
      replace: 'if (claim === undefined) return;',
      by: 'if (claim === undefined || found.length > 0) return;',
    },
    'hidden-pod-is-gone': {
      plants: 'a pod that the cache does not show counts as gone',
      replace: 'if (found === undefined) return;',
      by: 'if (found === undefined || name !== undefined) return;',
    },
  }),
  ...inFile(`${act}/perform.ts`, {
    'step-after-the-loss-of-the-lease': {
      plants: 'a step is taken although another operator leads',
      replace: 'confirmLeads(context.controller);',
      by: '',
    },
    'stop-while-a-secret-is-unreadable': {
      plants: 'a pod is stopped although a Secret that its next start needs cannot be read',
      replace: 'if (unreadSecret !== undefined && needsSecrets.has(step.kind)) throw',
      by: "if (unreadSecret === '') throw",
    },
    'pod-deleted-without-asking-again': {
      plants: 'the pod and PVC of a name are removed although etcd lists its member by now',
      replace: 'if (members.some((member) => member.name === name || member.peerURLs.includes(peerURL))) {',
      by: 'if (members.length < 0 && peerURL === name) {',
    },
    'unnamed-member-is-an-orphan': {
      plants: 'the pod of a member that was just added, and has no name yet, counts as orphaned',
      replace: 'member.name === name || member.peerURLs.includes(peerURL)',
      by: "member.name === name || peerURL === ''",
    },
    'pvc-of-another-member-removed': {
      plants: 'with an orphaned pod goes the PVC of another member that it mounts',
      replace:
        'if (observed.world.memberPods.some((each) => each.claim === mounted && isMember(each.name))) return false;',
      by: '',
    },
    'foreign-pvc-removed': {
      plants: 'with an orphaned pod goes a PVC of another cluster',
      replace: 'return !isForeignPvc(claim, blueprint, { clusterId, voters: [] });',
      by: "return clusterId !== '';",
    },
    'stop-of-a-changed-pod': {
      plants: 'a pod is stopped although it has changed since it was observed',
      replace: '...(resourceVersion === undefined ? {} : { resourceVersion })',
      by: '...(resourceVersion === undefined ? {} : {})',
    },
    'rebootstrap-forbidden-for-another-pod': {
      plants: 'the patch that forbids re-bootstrap reaches another pod with the same name',
      replace: 'metadata: { uid, annotations: annotationsOf(bootstrapForbidden(name, intent), naming) }',
      by: 'metadata: { annotations: annotationsOf(bootstrapForbidden(name, intent), naming) }',
    },
    'lost-answer-of-member-add': {
      plants: 'a member that an unanswered request has added counts as a failure',
      replace: "if (!isRefusal(thrown, 'peer-url-exists')) throw thrown;",
      by: 'throw thrown;',
    },
    'restart-creates-an-empty-pvc': {
      plants: 'a restarting member whose PVC is lost gets an empty PVC',
      replace: "if (wanted !== undefined && input.join.as !== 'restarting')",
      by: 'if (wanted !== undefined)',
    },
    'member-added-in-a-wrong-domain': {
      plants: 'a member is added with a host name that no member resolves',
      replace: 'await confirmDomain(context.observed.world, intent);',
      by: '',
    },
    'member-removed-without-confirmation': {
      plants: 'a member is removed as planned, whatever has changed since',
      replace: 'await confirmRemoval(step, context);',
      by: '',
    },
  }),
  ...inFile(`${act}/step-context.ts`, {
    'unanswered-change-counts-as-done': {
      plants: 'a membership change without an answer counts as done',
      replace: 'if (list.length === 0 || !isDone(list)) throw thrown;',
      by: 'if (list.length < 0 || isDone === undefined) throw thrown;',
    },
  }),
  ...inFile(`${act}/dns-check.ts`, {
    'wrong-host-accepted': {
      plants: 'a member gets a peer URL whose host is another machine',
      replace: 'if (!known.some((address) => found.includes(address))) throw',
      by: 'if (known.length < found.length - 100) throw',
    },
  }),
];
