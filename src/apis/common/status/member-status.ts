import { z } from 'zod';
import type { Member } from '../../../core/cluster/model/cluster.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import { isOlder } from '../../../core/cluster/model/version.ts';
import { text } from '../schema/rule.ts';

/** The alarms in the status of a member. */
export const alarms = z
  .array(text(64))
  .max(16)
  .optional()
  .describe('alarms are the alarms of the member, NOSPACE or CORRUPT. Absent without alarms.');

/** One member in the status of both APIs. */
export interface MemberState {
  name: string;
  id?: string | undefined;
  role?: 'voter' | 'learner' | undefined;
  healthy?: boolean | undefined;
  leader?: boolean | undefined;
  version?: string | undefined;
  alarms?: string[] | undefined;
}

/** The state of a member in this pass. A member that does not answer keeps its last known version. */
export function memberStateOf(member: Member, before: readonly MemberState[]): MemberState & { id: string } {
  const { name, id, role, health, leads, alarms: raised = [] } = member;
  const version = member.version ?? before.find((each) => isSame(each, member))?.version;
  const hasAnswered = health !== 'silent' && health !== 'never-started';
  return {
    name,
    id: id.toString(16),
    role,
    healthy: health === 'healthy',
    leader: hasAnswered && leads,
    ...(version === undefined ? {} : { version }),
    ...(raised.length === 0 ? {} : { alarms: [...raised] }),
  };
}

const isSame = (state: MemberState, { name, id }: { readonly name: MemberName; readonly id: bigint }): boolean =>
  state.name === name && state.id === id.toString(16);

/** Members that did not answer in this pass: not healthy, not leader, other fields unchanged. */
export const markUnhealthy = <M extends MemberState>(members: readonly M[]): M[] =>
  members.map((member) => ({ ...member, healthy: false, leader: false }));

/** Members that were not queried in this pass: health and leadership are unknown. */
export const dropHealth = <M extends MemberState>(members: readonly M[]): M[] =>
  members.map(({ healthy: _healthy, leader: _leader, ...lasting }) => lasting as M);

/** A member with another version than in the previous status. */
export interface VersionChange {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly isDowngrade: boolean;
}

/** Compares members by name and ID: a new member with an old name is no version change. */
export const versionChanges = (
  before: readonly MemberState[],
  after: readonly MemberState[],
): readonly VersionChange[] =>
  after.flatMap(({ name, id, version: to }) => {
    const from = before.find((each) => each.name === name && each.id === id)?.version;
    const isChanged = from !== undefined && to !== undefined && from !== to;
    return isChanged ? [{ name, from, to, isDowngrade: isOlder(to, from) }] : [];
  });
