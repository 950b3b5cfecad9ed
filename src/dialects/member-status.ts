import { z } from 'zod';
import type { Member } from '../core/model/cluster.ts';
import type { CarrierName } from '../core/model/names.ts';
import { isOlder } from '../core/model/version.ts';
import { text } from './rule.ts';

/** The field in the status of a member. */
export const alarms = z
  .array(text(64))
  .max(16)
  .optional()
  .describe('Alarms that etcd has raised about it: NOSPACE, CORRUPT. Left out while there are none.');

/** What a status says of one member, in either API. */
export interface MemberState {
  name: string;
  id?: string | undefined;
  role?: 'voter' | 'learner' | undefined;
  healthy?: boolean | undefined;
  leader?: boolean | undefined;
  version?: string | undefined;
  alarms?: string[] | undefined;
}

/** What was seen of a member in this pass. The version of one that does not answer is the last that it ran. */
export function stateOf(member: Member, before: readonly MemberState[]): MemberState & { id: string } {
  const { name, id, role, health, leads, alarms: raised = [] } = member;
  const version = member.version ?? before.find((each) => isSame(each, member))?.version;
  const isHeard = health !== 'silent' && health !== 'never-started';
  return {
    ...{ name, id: id.toString(16), role, healthy: health === 'healthy', leader: isHeard && leads },
    ...(version === undefined ? {} : { version }),
    ...(raised.length === 0 ? {} : { alarms: [...raised] }),
  };
}

const isSame = (state: MemberState, { name, id }: { readonly name: CarrierName; readonly id: bigint }): boolean =>
  state.name === name && state.id === id.toString(16);

/** Members that were asked in this pass and did not answer: what is lasting of them stays. */
export const unheard = <M extends MemberState>(members: readonly M[]): M[] =>
  members.map((member) => ({ ...member, healthy: false, leader: false }));

/** Members that were not even asked: whether they are healthy, and which of them leads, is not known. */
export const unasked = <M extends MemberState>(members: readonly M[]): M[] =>
  members.map(({ healthy: _healthy, leader: _leader, ...lasting }) => lasting as M);

/** A member that was seen to run another version than the one it was last seen with. */
export interface VersionChange {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly isDowngrade: boolean;
}

/** A member is known by its name and its ID: another member of the same name has changed nothing. */
export const versionChanges = (
  before: readonly MemberState[],
  after: readonly MemberState[],
): readonly VersionChange[] =>
  after.flatMap(({ name, id, version: to }) => {
    const from = before.find((each) => each.name === name && each.id === id)?.version;
    const isChanged = from !== undefined && to !== undefined && from !== to;
    return isChanged ? [{ name, from, to, isDowngrade: isOlder(to, from) }] : [];
  });
