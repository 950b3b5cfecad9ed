import { isToBeSaved, nextMinor } from './outdated.ts';
import { act, type Rule, wait } from './step.ts';

/**
 * From another minor there may be no way back: where the spec wants a backup before, nobody moves on until there is one. One
 * that failed is made again by itself after a while.
 */
export const saveFirst: Rule = (world) => {
  const version = nextMinor(world);
  const { safeguard } = world;
  if (safeguard === undefined || version === undefined || !isToBeSaved(world)) return undefined;
  const { name, state, why } = safeguard;
  if (state === 'missing' || state === 'stale')
    return act('BackupFirst', `making a backup before all move to ${version}`, { kind: 'make-backup', name, version });
  const trouble = why === '' ? '' : `: ${why}`;
  return state === 'failed'
    ? wait('BackupFailed', `nobody moves to ${version} without a backup, and ${name} failed${trouble}`)
    : wait('BackupFirst', `waiting for the backup ${name} before all move to ${version}${trouble}`);
};
