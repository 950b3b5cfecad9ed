import { inFile } from './mutant.ts';

const plan = 'src/core/cluster/plan';

/** Rollouts, versions, certificates and corrections. */
export const rolloutMutants = [
  ...inFile(`${plan}/roll/roll-one.ts`, {
    'no-leadership-transfer': {
      plants: 'the leader is stopped without a transfer of leadership',
      replace: 'transferLeadership(pair, pairs, world) ??',
      by: '',
    },
    'stopped-while-clients-connect': {
      plants: 'a member is stopped while the client Service leads to it',
      replace: "?? leaveClientService(pair.memberPod, world, 'Rolling')",
      by: '',
    },
    'leader-not-last': {
      plants: 'the leader is rolled before its followers',
      replace: 'Number(memberPod.ready) * 2 + Number(member.leads)',
      by: 'Number(memberPod.ready) * 2',
    },
    'transfer-to-the-newest-pod': {
      plants: 'leadership goes to the member that has just restarted',
      replace: 'readySinceOf(a) - readySinceOf(b)',
      by: 'readySinceOf(b) - readySinceOf(a)',
    },
    'roll-before-catching-up': {
      plants: 'the next member is rolled before the last has caught up',
      replace: 'pairs.find(({ member }) => !hasCaughtUp(member, members))',
      by: 'pairs.find(() => members.length < 0)',
    },
    'roll-while-the-old-container-answers': {
      plants: 'a changed image counts as running while the old container still answers',
      replace: 'pair.memberPod.isChanging === true || isOfAnotherVersion(pair)',
      by: 'isOfAnotherVersion(pair)',
    },
    'roll-while-one-is-unready': {
      plants: 'the next member is rolled while a pod is unready',
      replace: 'if (unready !== undefined) return unready;',
      by: '',
    },
    'roll-with-an-old-peer-url': {
      plants: 'a pod moves to a new peer URL that etcd does not know',
      replace: "if (drift === 'pod' && !member.peerURLs.includes(intent.peerURLOf(name)))",
      by: "if (drift === 'pod' && member.peerURLs.length < 0)",
    },
    'correct-all-images-at-once': {
      plants: 'the next wrong image is corrected before the last correction runs',
      replace: 'waitForCorrected(hop, pairs, world) ??',
      by: '',
    },
    'downgrade-never-cancelled': {
      plants: 'a downgrade that the spec no longer asks for stays enabled',
      replace: 'cancelDowngrade(world) ??',
      by: '',
    },
    'downgrade-not-enabled': {
      plants: 'members are downgraded without enabling the downgrade in etcd',
      replace: 'if (hop?.isDowngrade !== true || isDowngradeReady(hop, world)) return undefined;',
      by: "if (hop?.version !== '') return undefined;",
    },
  }),
  ...inFile(`${plan}/roll/outdated.ts`, {
    'downgrade-of-unconverted-data': {
      plants: 'a downgrade begins before the data is converted',
      replace: "return isEnabled && answering.every(({ storageVersion }) => minorIn(storageVersion ?? '') === goesTo);",
      by: 'return isEnabled && answering.length > 0;',
    },
    'upgrade-after-a-failed-backup': {
      plants: 'an upgrade goes on although the required backup failed',
      replace: "world.preUpgradeBackup.state !== 'good'",
      by: "world.preUpgradeBackup.state === 'missing'",
    },
    'unhealthy-member-goes-ahead': {
      plants: 'an unhealthy member is the first in the next minor, past alarms and minimum patches',
      replace:
        'return haveRunMinorBefore && requiredPatch(ranByAll, next) === undefined && alarmsIn(world).length === 0;',
      by: 'return haveRunMinorBefore || ranByAll.length >= 0;',
    },
    'unhealthy-member-skips-the-required-patch': {
      plants: 'an unhealthy member below the minimum patch goes to the next minor directly',
      replace: 'if (patch === undefined) return to;',
      by: "if (patch !== '') return to;",
    },
    'restart-in-another-version-while-corrupt': {
      plants: 'a restarted member changes its version while data may be corrupt',
      replace: 'isCorrupt(world) || areAlarmsUnknown(world)',
      by: 'areAlarmsUnknown(world) && isCorrupt(world)',
    },
    'joining-member-with-an-older-version': {
      plants: 'a joining member gets the oldest running version',
      replace: 'compareVersions(b.parsed, a.parsed)',
      by: 'compareVersions(a.parsed, b.parsed)',
    },
    'no-surge': {
      plants: 'a member without a PVC is removed before its replacement has joined',
      replace: 'intent.size + (isSurging ? 1 : 0)',
      by: 'intent.size + (isSurging ? 0 : 0)',
    },
  }),
  ...inFile('src/core/versions/releases.ts', {
    'floors-ignored': {
      plants: 'the next minor starts on data of a patch that it cannot read',
      replace: "'3.5': '3.5.32', '3.6': '3.6.11',",
      by: '',
    },
  }),
  ...inFile('src/core/versions/route.ts', {
    'two-minors-at-once': {
      plants: 'an upgrade leaves out the minors between',
      replace: 'for (let minor = firstToVisit; minor < wanted.minor; minor += 1)',
      by: 'for (let minor = firstToVisit; minor < 0; minor += 1)',
    },
    'faulty-version-accepted': {
      plants: 'an upgrade to a version that loses data is accepted',
      replace: 'if (fault?.refused === true) return blocked(',
      by: "if (fault?.effect === '') return blocked(",
    },
    'bootstrap-with-a-faulty-version': {
      plants: 'a new cluster starts with a version that loses data',
      replace: 'return fault?.refused === true',
      by: "return fault?.effect === ''",
    },
    'impossible-downgrade': {
      plants: 'a downgrade below the first minor with downgrades is tried',
      replace: 'if (minor < oldest.minor) return blocked(',
      by: 'if (minor < 0) return blocked(',
    },
    'digest-with-intermediate-versions': {
      plants: 'an image by digest passes an intermediate version whose digest is unknown',
      replace: 'if (!route.passable || route.hops.length < 2) return route;',
      by: 'if (!route.passable || route.hops.length > 0) return route;',
    },
  }),
  ...inFile(`${plan}/wait/wait-for-ready.ts`, {
    'two-unready-pods': {
      plants: 'a rollout goes on while two pods are unready',
      replace: 'first === undefined || others.length > 0 || !clientsHaveAnother',
      by: 'first === undefined || (others.length < 0 && !clientsHaveAnother)',
    },
    'no-ready-twin': {
      plants: 'a rollout goes on before any pod of the new template was ready',
      replace: 'return hasJustRestarted(first, now) && hasReadyTwin(first, memberPods);',
      by: 'return hasJustRestarted(first, now);',
    },
  }),
  ...inFile(`${plan}/wait/hold-while-corrupt.ts`, {
    'unknown-alarms-are-none': {
      plants: 'members are changed before any member has reported its alarms',
      replace: "areAlarmsUnknown(world) ? wait('AlarmsUnknown', unknown) : undefined",
      by: 'areAlarmsUnknown(world) ? undefined : undefined',
    },
  }),
  ...inFile(`${plan}/wait/wait-for-contact.ts`, {
    'hidden-pods-are-lost': {
      plants: 'pods and PVCs without labels count as lost data',
      replace: "if (hidden !== undefined) return waitForUser('NoContact', hidden.why);",
      by: '',
    },
    'quorum-lost-with-a-majority': {
      plants: 'quorum counts as lost although a majority has its data',
      replace: 'left >= quorumOf(voters.length)',
      by: 'left > quorumOf(voters.length)',
    },
  }),
  ...inFile(`${plan}/heal/correct-unhealthy.ts`, {
    'recreate-without-pvc': {
      plants: 'an unhealthy pod without a PVC is recreated and loses its data',
      replace: "if (drift === 'pod' && volume === 'own') return act(",
      by: "if (drift === 'pod') return act(",
    },
    'learner-promoted-by-update': {
      plants: 'the peer URL of a learner is updated, which promotes it',
      replace: "if (role === 'voter') return act(",
      by: "if (role === 'voter' || role === 'learner') return act(",
    },
  }),
  ...inFile(`${plan}/heal/correct-unreachable.ts`, {
    'restart-while-others-serve': {
      plants: 'without contact an outdated pod is recreated although others are ready',
      replace: '&& memberPods.every(({ ready }) => !ready)',
      by: '&& memberPods.length > 0',
    },
    'next-minor-without-quorum': {
      plants: 'without quorum a member goes to the next minor',
      replace: 'if (known.includes(minorOf(hop.version))) return hop.version;',
      by: "if (!known.includes('none')) return hop.version;",
    },
  }),
  ...inFile(`${plan}/heal/replace-expired-certificates.ts`, {
    'expired-certificates-cost-data': {
      plants: 'a member without a PVC is stopped because of its certificate',
      replace: "late.find(({ volume }) => volume === 'own')",
      by: "late.find(({ volume }) => volume !== 'lost')",
    },
    'expired-certificates-all-at-once': {
      plants: 'all members with expired certificates are stopped at the same time',
      replace: "memberPods.some(({ phase }) => phase === 'stopping' || phase === 'starting')",
      by: "memberPods.every(({ phase }) => phase === 'stopping')",
    },
  }),
  ...inFile(`${plan}/roll/roll-certificates.ts`, {
    'certificates-shown-before-trusted': {
      plants: 'new certificates are served before every member trusts the new CA',
      replace: "if (stage === 'show') return areAllTrusting(certificates, world);",
      by: "if (stage === 'show') return true;",
    },
    'old-ca-forgotten-early': {
      plants: 'the old CA is removed while a member serves an old certificate',
      replace: '(certificates.isServedByAll && areAllTrusting(certificates, world))',
      by: 'areAllTrusting(certificates, world)',
    },
  }),
];
