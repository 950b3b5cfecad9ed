import { isTooLate, latestSlot } from '../schedule/slots.ts';
import type { Agent, AgentProgress, AgentReport } from './agent.ts';
import { limitsOf } from './limits.ts';
import type { BackupIntent, BackupWorld } from './model.ts';

export type BackupVerdict =
  | { readonly is: 'start'; readonly slot: number }
  /** A run is finished. The status records it before the agent pod is deleted. */
  | { readonly is: 'conclude'; readonly agent: Agent; readonly report: AgentReport }
  /** Deletes the pod of a recorded run; with `why`, an interrupted pod that is replaced. */
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
      /** The scheduled time of a run that was skipped because its starting deadline has passed. */
      readonly missed?: number | undefined;
      /** A corrected time of the last run, if the recorded time lies in the future. */
      readonly lastSlot?: number | undefined;
    }
  | { readonly is: 'paused' }
  | { readonly is: 'finished' };

/** The next action for a backup. At most one agent runs at a time. */
export function planBackup(world: BackupWorld): BackupVerdict {
  const { agents, memory } = world;
  const open = agents.find(({ slot }) => !isConcluded(slot, memory.lastSlot));
  if (open !== undefined) return attendTo(open, world);
  const leftover = agents.find((agent) => agent.isTerminating !== true && mayGo(agent, world));
  if (leftover !== undefined) return { is: 'discard', agent: leftover };
  return next(world);
}

const isConcluded = (slot: number, lastSlot: number | undefined): boolean => lastSlot !== undefined && slot <= lastSlot;

function attendTo(agent: Agent, { now, intent, memory }: BackupWorld): BackupVerdict {
  const { state, createdAt } = agent;
  const { run: limit } = limitsOf(intent);
  if (state.is === 'ended') return judgeReport(agent, state.report, now - (memory.begunAt ?? createdAt) < limit * 1000);
  const why = state.is === 'starting' ? state.why : '';
  if (now - createdAt > limit * 1000)
    return { is: 'conclude', agent, report: failed(`pod ${agent.name} has not ended within ${limit} s${colon(why)}`) };
  const progress = state.is === 'running' ? state.progress : undefined;
  return { is: 'wait', for: 'agent', message: `pod ${agent.name} is ${state.is}${colon(why)}`, progress };
}

/** An agent that was stopped from outside, for example by a node drain, is replaced until the time limit of the run. */
function judgeReport(agent: Agent, report: AgentReport, isInTime: boolean): BackupVerdict {
  if (report.wasInterrupted === true && isInTime)
    return { is: 'discard', agent, why: `pod ${agent.name} was interrupted: ${report.message}` };
  return { is: 'conclude', agent, report };
}

const failed = (message: string): AgentReport => ({ ok: false, message, facts: {} });
const colon = (why: string): string => (why === '' ? '' : `: ${why}`);

/**
 * The pod of a failed run stays until the next run, for its log. A pod with a scheduled time in the future is deleted
 * at once: after a correction of the last run's time it would count as a current run.
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
  is: 'wait',
  for: 'time',
  until: nextSlot(world),
  lastSlot: corrected(world),
  missed: missedSlot(world),
});

/** A terminating pod may still work, and two agents must not run at once. An overdue pod is not waited for. */
export const stillLeaving = ({ agents }: Pick<BackupWorld, 'agents'>): Agent | undefined =>
  agents.find(({ isTerminating, isOverdue }) => isTerminating === true && isOverdue !== true);

/** The operator's clock may be behind the clock of the API server. */
const latestPossible = ({ now, intent }: BackupWorld): number => Math.max(now, intent.createdAt);

/** Corrects a last run in the future, recorded by a wrong clock. Otherwise no backup would run until then. */
function corrected(world: BackupWorld): number | undefined {
  const { lastSlot } = world.memory;
  const latest = latestPossible(world);
  return lastSlot !== undefined && lastSlot > latest ? latest : undefined;
}

type Timing = Pick<BackupWorld, 'now' | 'intent' | 'memory'>;

/** The scheduled time of the run that is due. Of several missed runs only the last is made. Failed runs are retried. */
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

/** The last scheduled time that has passed, without retries. */
function regularSlot(now: number, { createdAt, times }: BackupIntent): number | undefined {
  if (times === undefined) return undefined;
  return latestSlot(now, createdAt, times) ?? (times.startsAtOnce ? createdAt : undefined);
}

/** A run that started before its deadline may continue with another pod later. */
const startOf = ({ now, memory: { begunAt } }: Timing, slot = 0): number =>
  begunAt !== undefined && begunAt >= slot ? begunAt : now;

/** True if a start at `time` misses the starting deadline. Retries count from the scheduled time too. */
function isLateAt(time: number, intent: BackupIntent): boolean {
  const slot = regularSlot(time, intent);
  return slot !== undefined && intent.times !== undefined && isTooLate(slot, time, intent.times);
}

/** The delay of the first retry. It doubles with each failure. */
const firstRetrySeconds = 60;

function retrySlot({ intent, memory: { lastSlot, failures } }: Timing): number | undefined {
  if (lastSlot === undefined || failures === 0) return undefined;
  const slot = lastSlot + firstRetrySeconds * 2 ** Math.min(failures - 1, 16) * 1000;
  return isLateAt(slot, intent) ? undefined : slot;
}

/** The time of the next run. A retry is never later than the next regular run. */
function nextSlot(world: BackupWorld): number | undefined {
  const regular = world.intent.times?.timetable.next(latestPossible(world));
  const retry = retrySlot(world);
  return retry !== undefined && retry > world.now ? Math.min(regular ?? retry, retry) : regular;
}

/** The last scheduled time without a run, after its starting deadline. */
function missedSlot({ now, intent, memory }: BackupWorld): number | undefined {
  const slot = regularSlot(now, intent);
  return slot !== undefined && isConcluded(slot, memory.lastSlot) ? undefined : slot;
}
