import type { Agent, AgentProgress, AgentReport } from '../../model/agent.ts';
import type { BackupIntent, BackupWorld } from '../../model/backup.ts';
import { isTooLate, latestSlot } from '../../schedule/slots.ts';
import { limitsOf } from './limits.ts';

export type BackupVerdict =
  | { readonly is: 'start'; readonly slot: number }
  /** A run has come to its end: that is written down first, and then the agent may go. */
  | { readonly is: 'conclude'; readonly agent: Agent; readonly report: AgentReport }
  /** The agent of a run that was written down already; or, with a sentence, one that another is to take the place of. */
  | { readonly is: 'discard'; readonly agent: Agent; readonly why?: string }
  | {
      readonly is: 'wait';
      readonly for: 'agent' | 'obstacle';
      readonly message: string;
      readonly progress?: AgentProgress | undefined;
    }
  | {
      readonly is: 'wait';
      readonly for: 'time';
      readonly until: number | undefined;
      /** The time of a run that is left out, because it is too late for it. */
      readonly missed?: number | undefined;
      /** What is to be remembered of the last run, where that cannot be true. */
      readonly lastSlot?: number | undefined;
    }
  | { readonly is: 'paused' }
  | { readonly is: 'finished' };

/** What to do next for a backup. At most one agent of it is ever under way. */
export function planBackup(world: BackupWorld): BackupVerdict {
  const { agents, memory } = world;
  const open = agents.find(({ slot }) => !isConcluded(slot, memory.lastSlot));
  if (open !== undefined) return attendTo(open, world);
  const leftover = agents.find((agent) => agent.isGoing !== true && mayGo(agent, world));
  if (leftover !== undefined) return { is: 'discard', agent: leftover };
  return next(world);
}

const isConcluded = (slot: number, lastSlot: number | undefined): boolean => lastSlot !== undefined && slot <= lastSlot;

function attendTo(agent: Agent, { now, intent, memory }: BackupWorld): BackupVerdict {
  const { state, createdAt } = agent;
  const { run: limit } = limitsOf(intent);
  if (state.is === 'ended') return heed(agent, state.report, now - (memory.begunAt ?? createdAt) < limit * 1000);
  const why = state.is === 'starting' ? state.why : '';
  if (now - createdAt > limit * 1000)
    return { is: 'conclude', agent, report: failed(`pod ${agent.name} has not ended within ${limit} s${colon(why)}`) };
  const progress = state.is === 'running' ? state.progress : undefined;
  return { is: 'wait', for: 'agent', message: `pod ${agent.name} is ${state.is}${colon(why)}`, progress };
}

/**
 * Who was ended by somebody else, as with a node that goes, has not failed: for as long as one run may take, from when it
 * began, another takes over.
 */
function heed(agent: Agent, report: AgentReport, isInTime: boolean): BackupVerdict {
  if (report.isCutShort === true && isInTime)
    return { is: 'discard', agent, why: `pod ${agent.name} was ended before it was done: ${report.message}` };
  return { is: 'conclude', agent, report };
}

const failed = (message: string): AgentReport => ({ ok: false, message, facts: {} });
const colon = (why: string): string => (why === '' ? '' : `: ${why}`);

/**
 * The pod of a run that failed stays for its log until the next run. One of a time that has not come yet goes at once, or it
 * would be taken for one that is under way as soon as what is remembered of it is put right.
 */
function mayGo({ state, slot }: Agent, world: BackupWorld): boolean {
  if (state.is !== 'ended' || state.report.ok || slot > latestPossible(world)) return true;
  return dueSlot(world) !== undefined;
}

function next(world: BackupWorld): BackupVerdict {
  const { intent, memory, obstacle } = world;
  if (intent.times === undefined && memory.isFinished) return { is: 'finished' };
  if (intent.paused) return { is: 'paused' };
  const slot = dueSlot(world);
  if (slot === undefined) return untilNext(world);
  if (obstacle !== undefined) return { is: 'wait', for: 'obstacle', message: obstacle };
  const leaving = stillLeaving(world);
  if (leaving !== undefined) return { is: 'wait', for: 'agent', message: `pod ${leaving.name} is being deleted` };
  return { is: 'start', slot };
}

const untilNext = (world: BackupWorld): BackupVerdict => ({
  ...{ is: 'wait', for: 'time', until: nextSlot(world) },
  ...{ lastSlot: corrected(world), missed: missedSlot(world) },
});

/** A terminating pod may be at work for a moment yet, and there are never two. One that is overdue is not waited for. */
export const stillLeaving = ({ agents }: Pick<BackupWorld, 'agents'>): Agent | undefined =>
  agents.find(({ isGoing, isOverdue }) => isGoing === true && isOverdue !== true);

/** Our clock may be behind that of the API server. */
const latestPossible = ({ now, intent }: BackupWorld): number => Math.max(now, intent.createdAt);

/** A clock that was ahead once must not keep us silent until its time has come. */
function corrected(world: BackupWorld): number | undefined {
  const { lastSlot } = world.memory;
  const latest = latestPossible(world);
  return lastSlot !== undefined && lastSlot > latest ? latest : undefined;
}

type Timing = Pick<BackupWorld, 'now' | 'intent' | 'memory'>;

/**
 * For which time a run is due. Of those that went by while nobody looked, only the last is made up for. After a failure
 * there is another try in between.
 */
export function dueSlot(world: Timing): number | undefined {
  const { now, intent, memory } = world;
  if (intent.times === undefined) return memory.isFinished ? undefined : intent.createdAt;
  const regular = regularSlot(now, intent);
  const slot = orRetry(regular, world);
  if (slot === undefined || isConcluded(slot, memory.lastSlot)) return undefined;
  return isLateAt(startOf(world, regular), intent) ? undefined : slot;
}

function orRetry(regular: number | undefined, world: Timing): number | undefined {
  const retry = retrySlot(world);
  return retry !== undefined && retry <= world.now ? Math.max(regular ?? retry, retry) : regular;
}

/** The last time that has come, other tries aside. */
function regularSlot(now: number, { createdAt, times }: BackupIntent): number | undefined {
  if (times === undefined) return undefined;
  return latestSlot(now, createdAt, times) ?? (times.startsAtOnce ? createdAt : undefined);
}

/** A run that has begun in time may go on with another pod, however late that is. */
const startOf = ({ now, memory: { begunAt } }: Timing, slot = 0): number =>
  begunAt !== undefined && begunAt >= slot ? begunAt : now;

/** Whether what begins then is too late. Another try counts from when the backup was due, as the first does. */
function isLateAt(time: number, intent: BackupIntent): boolean {
  const slot = regularSlot(time, intent);
  return slot !== undefined && intent.times !== undefined && isTooLate(slot, time, intent.times);
}

/** After a failure it is tried again, later each time. */
const firstRetrySeconds = 60;

function retrySlot({ intent, memory: { lastSlot, failures } }: Timing): number | undefined {
  if (lastSlot === undefined || failures === 0) return undefined;
  const slot = lastSlot + firstRetrySeconds * 2 ** Math.min(failures - 1, 16) * 1000;
  return isLateAt(slot, intent) ? undefined : slot;
}

/** When the next run will be due: another try never is later than it would be made anyway. */
function nextSlot(world: BackupWorld): number | undefined {
  const regular = world.intent.times?.timetable.next(latestPossible(world));
  const retry = retrySlot(world);
  return retry !== undefined && retry > world.now ? Math.min(regular ?? retry, retry) : regular;
}

/** The last time that has come and for which nothing was begun, once it is too late for it. */
function missedSlot({ now, intent, memory }: BackupWorld): number | undefined {
  const slot = regularSlot(now, intent);
  return slot !== undefined && isConcluded(slot, memory.lastSlot) ? undefined : slot;
}
