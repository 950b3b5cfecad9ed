import { peerURLOf } from '../support/worlds.ts';
import type { Entry, Member, MemberId, Step } from './types.ts';

export type MembershipStep = Extract<Step, { kind: 'add-member' | 'promote-member' | 'remove-member' }>;

interface State {
  readonly serves: boolean;
  readonly leads: boolean;
  readonly version: string | undefined;
}

/** The member as the operator observes it. */
export function memberOf({ id, name, role, started }: Entry, { serves, leads, version }: State): Member {
  return {
    id,
    name,
    peerURLs: [peerURLOf(name)],
    role,
    health: started ? (serves ? 'healthy' : 'silent') : 'never-started',
    hasNeverServed: !started,
    silence: { millis: 3_600_000, observations: 300 },
    leads,
    version,
    raftIndex: 100n,
    storageVersion: undefined,
    downgradeTarget: undefined,
  };
}

/** The member list after a membership change; `newId` is the ID of an added member. */
export function changedEntries(entries: readonly Entry[], step: MembershipStep, newId: MemberId): Entry[] {
  if (step.kind === 'add-member') return [...entries, { id: newId, name: step.name, role: step.as, started: false }];
  if (step.kind === 'remove-member') return entries.filter(({ id }) => id !== step.id);
  for (const entry of entries.filter(({ id }) => id === step.id)) entry.role = 'voter';
  return [...entries];
}
