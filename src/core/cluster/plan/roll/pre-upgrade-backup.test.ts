import { describe, expect, it } from 'vitest';
import {
  aWorld,
  type Change,
  imageOf,
  withIntent,
  withMember,
  withMemberPod,
} from '../../../../../test/support/worlds.ts';
import type { ClusterWorld, PreUpgradeBackup } from '../../model/cluster.ts';
import { planCluster } from '../plan-cluster.ts';
import type { Verdict } from '../step.ts';

const upTo = (version: string): Change => withIntent({ version });
const runs = (name: string, version: string): Change => {
  const both = [withMember(name, { version }), withMemberPod(name, { version, image: imageOf(version) })];
  return (world) => both.reduce((w, change) => change(w), world);
};
const withBackup =
  (state: PreUpgradeBackup['state']): Change =>
  (w) => ({ ...w, preUpgradeBackup: { name: 'db-before-3.6.16', state, why: '' } });

const summaryOf = (verdict: Verdict): string => {
  if (verdict.is === 'settled') return 'settled';
  if (verdict.is === 'wait') return `wait: ${verdict.reason}`;
  return verdict.steps
    .map((step) => [step.kind, 'name' in step ? step.name : '', 'to' in step ? step.to : ''].join(' ').trim())
    .join(', ');
};

const cases: Record<string, { given: ClusterWorld; want: string }> = {
  'makes the required backup before the first member moves to another minor': {
    given: aWorld(upTo('3.6.16'), withBackup('missing')),
    want: 'make-backup db-before-3.6.16',
  },
  'waits until the required backup has succeeded': {
    given: aWorld(upTo('3.6.16'), withBackup('under-way')),
    want: 'wait: BackupFirst',
  },
  'blocks the upgrade if the required backup failed': {
    given: aWorld(upTo('3.6.16'), withBackup('failed')),
    want: 'wait: BackupFailed',
  },
  'makes a stale required backup again': {
    given: aWorld(upTo('3.6.16'), withBackup('stale')),
    want: 'make-backup db-before-3.6.16',
  },
  'upgrades after the required backup has succeeded': {
    given: aWorld(upTo('3.6.16'), withBackup('good')),
    want: 'change-image db-1 3.6.16',
  },
  'needs no backup for another patch': {
    given: aWorld(upTo('3.5.36'), withBackup('missing')),
    want: 'change-image db-1 3.5.36',
  },
  'needs no further backup after the first member has moved': {
    given: aWorld(upTo('3.6.16'), runs('db-1', '3.6.16'), withBackup('stale')),
    want: 'change-image db-2 3.6.16',
  },
  'does not move an unhealthy member without the required backup': {
    given: aWorld(
      upTo('3.6.16'),
      withBackup('under-way'),
      withMember('db-2', { health: 'silent', version: undefined }),
      withMemberPod('db-2', { phase: 'stuck', ready: false }),
    ),
    want: 'wait: MemberStuck',
  },
};

describe('an upgrade with a required backup', () => {
  for (const [title, { given, want }] of Object.entries(cases)) {
    it(title, () => expect(summaryOf(planCluster(given))).toBe(want));
  }
});
