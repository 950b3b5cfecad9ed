import type { KnownWorld } from '../../model/cluster.ts';
import { act, type Rule, wait } from '../step.ts';
import { needsPreUpgradeBackup, nextMinor } from './outdated.ts';

/**
 * A downgrade to the minor before may be impossible. If the spec requires a backup, no member moves to another minor
 * before the backup has succeeded. A failed backup is retried after a while.
 */
export const backUpBeforeUpgrade: Rule<KnownWorld> = (world) => {
  const version = nextMinor(world);
  const { preUpgradeBackup } = world;
  if (preUpgradeBackup === undefined || version === undefined || !needsPreUpgradeBackup(world)) return undefined;
  const { name, state, why } = preUpgradeBackup;
  if (state === 'missing' || state === 'stale')
    return act('BackupFirst', `making backup ${name} before the upgrade to ${version}`, {
      kind: 'make-backup',
      name,
      version,
    });
  const cause = why === '' ? '' : `: ${why}`;
  return state === 'failed'
    ? wait('BackupFailed', `upgrade to ${version} blocked: required backup ${name} failed${cause}`)
    : wait('BackupFirst', `upgrade to ${version} waits for backup ${name}${cause}`);
};
