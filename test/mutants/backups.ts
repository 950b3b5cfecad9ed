import { inFile } from './mutant.ts';

/** Backups, schedules and retention. */
export const backupMutants = [
  ...inFile('src/core/backup/plan.ts', {
    'two-agents-at-once': {
      plants: 'a run starts while the pod of the last run still terminates',
      replace: 'if (leaving !== undefined) return {',
      by: "if (leaving?.name === '') return {",
    },
    'run-repeated': {
      plants: 'a recorded run counts as open',
      replace: 'slot <= lastSlot',
      by: 'slot < lastSlot',
    },
    'interrupted-run-is-a-failure': {
      plants: 'an agent that a node drain stopped counts as failed',
      replace: 'report.wasInterrupted === true && isInTime',
      by: 'report.wasInterrupted === true && !isInTime',
    },
    'run-without-limit': {
      plants: 'an agent that never ends blocks all later runs',
      replace: 'if (now - createdAt > limit * 1000)',
      by: 'if (now - createdAt > limit * 1000 * 1000)',
    },
    'paused-backup-runs': {
      plants: 'a paused backup starts a run',
      replace: "if (intent.paused) return { is: 'paused' };",
      by: '',
    },
    'starting-deadline-ignored': {
      plants: 'a run starts after its starting deadline',
      replace: 'return isLateAt(startOf(world, regular), intent) ? undefined : slot;',
      by: 'return slot;',
    },
    'obstacle-ignored': {
      plants: 'a run starts although an obstacle is known',
      replace: 'if (obstacle !== undefined) return {',
      by: "if (obstacle === '') return {",
    },
    'single-backup-repeated': {
      plants: 'a backup without a schedule runs again and again',
      replace: 'return memory.isFinished ? undefined : intent.createdAt;',
      by: 'return intent.createdAt;',
    },
    'run-in-the-future-blocks': {
      plants: 'a last run in the future, recorded by a wrong clock, stops all backups',
      replace: 'lastSlot !== undefined && lastSlot > latest ? latest : undefined',
      by: 'lastSlot !== undefined && lastSlot < 0 ? latest : undefined',
    },
    'failed-run-not-retried': {
      plants: 'a failed run is not made again before the next scheduled time',
      replace: 'if (lastSlot === undefined || failures === 0) return undefined;',
      by: 'if (lastSlot === undefined || failures >= 0) return undefined;',
    },
    'log-of-a-failed-run-deleted': {
      plants: 'the pod of a failed run, with its log, is deleted at once',
      replace: 'return dueSlot(world) !== undefined;',
      by: 'return world.agents.length > 0;',
    },
  }),
  ...inFile('src/core/schedule/plan.ts', {
    'two-scheduled-backups-at-once': {
      plants: 'a scheduled backup starts while the one before still runs',
      replace: "return active === undefined ? { is: 'start', slot } :",
      by: "return active?.name !== '' ? { is: 'start', slot } :",
    },
    'history-unlimited': {
      plants: 'finished EtcdBackups are never deleted',
      replace: "if (over.length > 0) return { is: 'forget', backups: over };",
      by: "if (over.length < 0) return { is: 'forget', backups: over };",
    },
    'newest-of-the-history-deleted': {
      plants: 'the newest EtcdBackups of a schedule are deleted instead of the oldest',
      replace: 'b.createdAt - a.createdAt ||',
      by: 'a.createdAt - b.createdAt ||',
    },
    'future-slot-blocks-a-schedule': {
      plants: 'a time in the future, recorded by a wrong clock, stops the schedule',
      replace: '[Math.min(written, now)]',
      by: '[written]',
    },
    'scheduled-time-made-twice': {
      plants: 'a scheduled time is made twice',
      replace: 'latest !== undefined && lastSlot !== undefined && latest <= lastSlot ? undefined : latest',
      by: 'latest !== undefined && lastSlot !== undefined && latest < lastSlot ? undefined : latest',
    },
  }),
  ...inFile('src/objectstore/retention.ts', {
    'newest-good-backup-pruned': {
      plants: 'the newest good backup is deleted',
      replace: 'backups.find(({ isGood }) => isGood),',
      by: '',
    },
    'backup-just-made-pruned': {
      plants: 'the backup that was just made is deleted',
      replace: 'backups.find(({ key }) => key === justMade),',
      by: '',
    },
    'backup-stored-last-pruned': {
      plants: 'the backup that the store received last is deleted because of a wrong node clock',
      replace: 'last(backups, ({ storedAt }) => storedAt.getTime()),',
      by: '',
    },
    'backup-of-another-owner-pruned': {
      plants: 'a backup of another owner is deleted',
      replace: 'if (manifest?.owner !== undefined && !isOwner(manifest.owner, ownership)) return undefined;',
      by: '',
    },
    'backup-of-another-namespace-pruned': {
      plants: 'a backup of an owner in another namespace is deleted',
      replace: 'uid === ownerUid && namespace === ownerNamespace',
      by: 'uid === ownerUid',
    },
    'truncated-backup-is-good': {
      plants: 'a backup whose size differs from its manifest counts as good',
      replace: 'isGood: manifest === undefined ? size > 0 : manifest.snapshot.size === size',
      by: 'isGood: manifest === undefined ? size > 0 : size > 0',
    },
    'ages-by-the-node-clock': {
      plants: 'a node clock that is ahead expires all backups',
      replace: 'Math.min(time.now.getTime(), ...backups.slice(0, 1).map(backupTimeOf))',
      by: 'time.now.getTime()',
    },
    'one-backup-too-few': {
      plants: 'one backup fewer than asked for is kept',
      replace: 'index >= count',
      by: 'index >= count - 1',
    },
    'copied-backup-counts-as-new': {
      plants: 'an old backup that was copied counts as new',
      replace: 'stored - taken > longestSkew ? taken : stored',
      by: 'stored - taken > longestSkew ? stored : stored',
    },
    'foreign-object-pruned': {
      plants: 'an object without manifest and dated name counts as a backup',
      replace: 'if (named === undefined) return undefined;',
      by: 'if (named === undefined) return { key, keys, storedAt, takenAt: storedAt, isGood: true };',
    },
  }),
  ...inFile('src/agent/prune.ts', {
    'newest-pruned-first': {
      plants: 'an interrupted deletion leaves the oldest backups',
      replace: 'atOnce(expired.toReversed(), signal',
      by: 'atOnce(expired, signal',
    },
    'snapshot-pruned-before-its-manifest': {
      plants: 'an interrupted deletion leaves manifests without snapshots',
      replace: 'keys.toReversed()',
      by: 'keys',
    },
  }),
];
