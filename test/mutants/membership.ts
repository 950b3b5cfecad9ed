import { inFile } from './mutant.ts';

const plan = 'src/core/cluster/plan';

/** Quorum, and adding, removing and replacing members. */
export const membershipMutants = [
  ...inFile('src/core/quorum.ts', {
    'quorum-off-by-one': {
      plants: 'half of an even number of voters counts as a quorum',
      replace: 'Math.floor(voters / 2) + 1',
      by: 'Math.ceil(voters / 2)',
    },
    'learners-count-for-quorum': {
      plants: 'learners count for the quorum',
      replace: "members.filter((member) => member.role === 'voter')",
      by: "members.filter((member) => member.role === 'voter' || member.health === 'healthy')",
    },
    'lost-members-count-for-quorum': {
      plants: 'a member without a leader counts for the quorum',
      replace: "voters.filter((member) => member.health === 'healthy')",
      by: "voters.filter((member) => member.health !== 'silent')",
    },
  }),
  ...inFile(`${plan}/scale/shrink-by-one.ts`, {
    'shrink-without-quorum-check': {
      plants: 'a cluster shrinks although the rest loses quorum',
      replace: 'if (!survivesRemovalOf(victim.id, members))',
      by: 'if (members.length < 0)',
    },
    'shrink-healthy-first': {
      plants: 'a healthy member is removed before an unhealthy one',
      replace: "(health === 'healthy' ? 8 : 0)",
      by: "(health === 'healthy' ? 0 : 8)",
    },
    'shrink-without-transfer': {
      plants: 'the leader is removed without a transfer of leadership',
      replace: 'transferLeadership(victim, members, world) ?? leaving ?? removal',
      by: 'leaving ?? removal',
    },
    'shrink-without-leaving-the-service': {
      plants: 'a surplus member is removed while the client Service leads to it',
      replace: '?? leaving ?? removal',
      by: '?? removal',
    },
  }),
  ...inFile(`${plan}/scale/grow-by-one.ts`, {
    'voter-instead-of-learner': {
      plants: 'a member joins as a voter although etcd has learners',
      replace: "? 'learner' : 'voter'",
      by: "? 'voter' : 'voter'",
    },
    'grow-beyond-size': {
      plants: 'one member too many is added',
      replace: 'members.length >= wantedSize(world)',
      by: 'members.length > wantedSize(world)',
    },
  }),
  ...inFile(`${plan}/scale/promote-learner.ts`, {
    'early-promotion': {
      plants: 'a learner is promoted before it has caught up',
      replace: "learner.health === 'healthy' && hasCaughtUp(learner, members)",
      by: "learner.health === 'healthy'",
    },
  }),
  ...inFile(`${plan}/scale/second-voter.ts`, {
    'second-voter-before-its-pod-runs': {
      plants: 'before etcd 3.4 the second voter is added before its container has run',
      replace: 'if (!memberPod.hasRun)',
      by: "if (memberPod.name === 'none')",
    },
  }),
  ...inFile(`${plan}/scale/start-joining-member.ts`, {
    'joining-member-with-forbidden-bootstrap': {
      plants: 'a joining member keeps a pod that can never join',
      replace: '(bootstrapForbidden || (!asDesired && !ready))',
      by: '(!asDesired && !ready)',
    },
    'joining-member-with-the-version-of-the-spec': {
      plants: 'without quorum a joining member starts with the version of the spec instead of the remembered one',
      replace: 'version: memory.version ?? intent.version',
      by: 'version: intent.version',
    },
  }),
  ...inFile(`${plan}/heal/replace-dead-member.ts`, {
    'dead-removal-without-quorum-check': {
      plants: 'a dead member is removed although the rest loses quorum',
      replace: 'if (!survivesRemovalOf(id, members)) return undefined;',
      by: '',
    },
    'dead-because-unready': {
      plants: 'a member counts as dead as soon as it does not answer',
      replace: 'if (!isUnreachableForLong(member, memberPod, world) || areJustBack(world)) return false;',
      by: 'if (areJustBack(world)) return false;',
    },
    'no-grace-after-an-outage': {
      plants: 'the slowest member is replaced right after an outage of all nodes',
      replace: '|| areJustBack(world)) return false;',
      by: ') return false;',
    },
    'dead-after-two-looks': {
      plants: 'silence counts although the operator has hardly looked',
      replace: '&& observations >= fewestObservations',
      by: '',
    },
    'dead-by-a-bad-template': {
      plants: 'a member that the new template keeps from starting is replaced',
      replace: 'return !hasUnprovenTemplate(memberPod, world) ||',
      by: 'return memberPod.name !== undefined ||',
    },
    'emptied-volume-never-replaced': {
      plants: 'a member that has found its volume empty is not replaced',
      replace: "bootstrapForbidden && phase === 'stuck' && why.includes(\"couldn't find local name\")",
      by: "bootstrapForbidden && phase === 'stuck' && why === ''",
    },
    'running-pod-without-pvc-is-dead': {
      plants: 'a silent member without a PVC is replaced while its pod runs',
      replace: "volume === 'with-pod' && (phase === 'ended' || phase === 'stopping' || phase === 'gone')",
      by: "volume === 'with-pod'",
    },
  }),
  ...inFile(`${plan}/bootstrap/start-bootstrap-members.ts`, {
    'bootstrap-after-formation': {
      plants: 'a bootstrap member starts as new although the cluster has formed unrecorded',
      replace: '|| hasFormedUnrecorded(world)) return undefined;',
      by: ') return undefined;',
    },
  }),
  ...inFile(`${plan}/bootstrap/record-bootstrap.ts`, {
    'second-bootstrap': {
      plants: 'a known cluster without pods is bootstrapped again',
      replace: 'hasHistory(memory) ||',
      by: '',
    },
    'bootstrap-beside-retained-volumes': {
      plants: 'members with empty volumes bootstrap beside members with data',
      replace: '{ members: inOrder(retainedVolumes, intent), token, onRetainedVolumes: true }',
      by: '{ members: inOrder(spareNames.slice(0, intent.size), intent), token, onRetainedVolumes: true }',
    },
  }),
  ...inFile(`${plan}/bootstrap/record-formation.ts`, {
    'wrong-cluster-id': {
      plants: 'members of another etcd cluster are accepted',
      replace: 'if (memory.clusterId === clusterId) return undefined;',
      by: "if (memory.clusterId !== '') return undefined;",
    },
  }),
  ...inFile(`${plan}/bootstrap/adopt.ts`, {
    'adoption-without-quorum': {
      plants: 'a cluster is adopted although no majority has confirmed its members',
      replace: 'if (!hasQuorum(membership.value.members)) return wait(',
      by: 'if (membership.value.members.length < 0) return wait(',
    },
    'adoption-before-replicasets-are-gone': {
      plants: 'pods are adopted while their ReplicaSets exist',
      replace: "if (legacyReplicaSets.length > 0) return wait('TakingOver'",
      by: "if (legacyReplicaSets.length < 0) return wait('TakingOver'",
    },
  }),
  ...inFile('src/core/manifests/initial-cluster.ts', {
    'restart-as-new': {
      plants: 'a restarting member starts as new if its volume is empty',
      replace: "case 'restarting': return bootstrapForbidden(name, intent);",
      by: "case 'restarting': return { peers: `${name}=${intent.peerURLOf(name)}`, state: 'new', token: tokenOf(intent) };",
    },
  }),
  ...inFile(`${plan}/heal/restart-on-own-volume.ts`, {
    'removed-member-restarts': {
      plants: 'a member that etcd does not list is restarted on its PVC',
      replace: "return member !== undefined && member.health !== 'never-started';",
      by: "return member?.health !== 'never-started';",
    },
    'late-bootstrap-member-is-barred': {
      plants: 'a bootstrap member that never served cannot join the cluster that formed without it',
      replace: "isLate ? joinAmong(members) : { as: 'restarting' }",
      by: "isLate ? { as: 'restarting' } : { as: 'restarting' }",
    },
  }),
  ...inFile('src/core/cluster/plan/bootstrap/bootstrap-version.ts', {
    'new-minor-on-unrecorded-data': {
      plants: 'bootstrap members that may have data start with another minor',
      replace: 'if (held === undefined) return world.intent.version;',
      by: "if (held === undefined || world.intent.version !== '') return world.intent.version;",
    },
  }),
  ...inFile('src/controllers/cluster/observe/readiness.ts', {
    'crash-looping-survivor-forgotten': {
      plants: 'a member that was ready counts as never formed once its container restarts',
      replace: 'return Date.parse(since) - Date.parse(startTime) > firstReportMillis;',
      by: 'return false;',
    },
  }),
];
