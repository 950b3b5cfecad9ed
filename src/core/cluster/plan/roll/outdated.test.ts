import { expect, it } from 'vitest';
import {
  aKnownWorld,
  aWorld,
  type Change,
  withIntent,
  withMember,
  withMemberPod,
} from '../../../../../test/support/worlds.ts';
import type { PreUpgradeBackup } from '../../model/cluster.ts';
import { planCluster } from '../plan-cluster.ts';
import { versionForJoiningMembers } from './outdated.ts';

const states: readonly PreUpgradeBackup['state'][] = ['missing', 'under-way', 'good', 'failed', 'stale'];

it.each(states)(
  'the first member of the next minor gets a corrected image, even if the pre-upgrade backup is %s by then',
  (state) => {
    const guarded: Change = (world) => ({ ...world, preUpgradeBackup: { name: 'db-before-3.6.16', state, why: '' } });
    const down = withMember('db-2', { health: 'silent', version: undefined });
    const wrong = { version: '3.6.16', image: 'wrong:v3.6.16', phase: 'stuck', ready: false } as const;
    const verdict = planCluster(aWorld(withIntent({ version: '3.6.16' }), guarded, down, withMemberPod('db-2', wrong)));
    expect(verdict).toMatchObject({ is: 'act', steps: [{ kind: 'change-image', name: 'db-2', to: '3.6.16' }] });
  },
);

it('a joining member gets the newest version that runs, which reads the data of all members', () => {
  const { members } = aKnownWorld(
    withMember('db-0', { version: '3.4.31' }),
    withMember('db-1', { version: '3.5.9' }),
    withMember('db-2', { version: '3.5.21' }),
  ).membership.value;
  expect(versionForJoiningMembers(members, { version: '3.6.16' })).toBe('3.5.21');
});
