import type { Agent, AgentReport } from '../../model/agent.ts';
import type { BackupWorld } from '../../model/backup.ts';

export type BackupVerdict =
  | { readonly is: 'start'; readonly slot: number }
  /** A run has come to its end: that is written down first, and then the agent may go. */
  | { readonly is: 'conclude'; readonly agent: Agent; readonly report: AgentReport }
  /** The agent of a run that was written down already. */
  | { readonly is: 'discard'; readonly agent: Agent }
  | { readonly is: 'wait'; readonly for: 'agent' | 'obstacle'; readonly message: string }
  | { readonly is: 'wait'; readonly for: 'time'; readonly until: number }
  | { readonly is: 'paused' }
  | { readonly is: 'finished' };

/** Beyond its own time an agent needs some to be scheduled, to pull its image and to end. */
const graceSeconds = 180;

/** What to do next for a backup. At most one agent of it is ever under way. */
export function planBackup(world: BackupWorld): BackupVerdict {
  const { agents, memory } = world;
  const open = agents.find(({ slot }) => !isConcluded(slot, memory.lastSlot));
  if (open !== undefined) return attendTo(open, world);
  const leftover = agents.find((agent) => mayGo(agent, world));
  if (leftover !== undefined) return { is: 'discard', agent: leftover };
  return next(world);
}

const isConcluded = (slot: number, lastSlot: number | undefined): boolean => lastSlot !== undefined && slot <= lastSlot;

function attendTo(agent: Agent, { now, intent }: BackupWorld): BackupVerdict {
  const { state, createdAt } = agent;
  if (state.is === 'ended') return { is: 'conclude', agent, report: state.report };
  const why = state.is === 'starting' ? state.why : '';
  const limit = intent.timeoutSeconds + graceSeconds;
  if (now - createdAt > limit * 1000)
    return { is: 'conclude', agent, report: failed(`pod ${agent.name} has not ended within ${limit} s${colon(why)}`) };
  return { is: 'wait', for: 'agent', message: `pod ${agent.name} is ${state.is}${colon(why)}` };
}

const failed = (message: string): AgentReport => ({ ok: false, message, facts: {} });
const colon = (why: string): string => (why === '' ? '' : `: ${why}`);

/** The pod of a run that failed stays for its log until the next run. */
function mayGo({ state }: Agent, world: BackupWorld): boolean {
  if (state.is !== 'ended' || state.report.ok) return true;
  return dueSlot(world) !== undefined;
}

function next(world: BackupWorld): BackupVerdict {
  const { intent, memory, obstacle } = world;
  if (intent.intervalSeconds === undefined && memory.isFinished) return { is: 'finished' };
  if (intent.paused) return { is: 'paused' };
  const slot = dueSlot(world);
  if (slot === undefined) return { is: 'wait', for: 'time', until: nextSlot(world) };
  if (obstacle !== undefined) return { is: 'wait', for: 'obstacle', message: obstacle };
  return { is: 'start', slot };
}

type Timing = Pick<BackupWorld, 'now' | 'intent' | 'memory'>;

/**
 * For which time a run is due. Times are counted from when the resource was created, the first one at once; of those that
 * went by while nobody looked, only the last is made up for. After a failure there is another try in between.
 */
export function dueSlot(world: Timing): number | undefined {
  const { now, intent, memory } = world;
  const { createdAt, intervalSeconds } = intent;
  if (intervalSeconds === undefined) return memory.isFinished ? undefined : createdAt;
  const regular = latestSlot(now, createdAt, intervalSeconds);
  const retry = retrySlot(world);
  const slot = retry !== undefined && retry <= now ? Math.max(regular, retry) : regular;
  return isConcluded(slot, memory.lastSlot) ? undefined : slot;
}

const latestSlot = (now: number, createdAt: number, seconds: number): number =>
  createdAt + Math.max(0, Math.floor((now - createdAt) / (seconds * 1000))) * seconds * 1000;

/** After a failure it is tried again, later each time, but never later than the next one would be due anyway. */
const firstRetrySeconds = 60;

function retrySlot({ intent: { intervalSeconds = 0 }, memory: { lastSlot, failures } }: Timing): number | undefined {
  if (lastSlot === undefined || failures === 0) return undefined;
  return lastSlot + Math.min(intervalSeconds, firstRetrySeconds * 2 ** Math.min(failures - 1, 16)) * 1000;
}

/** When the next run will be due. */
export function nextSlot(world: Timing): number {
  const { now, intent } = world;
  const { createdAt, intervalSeconds = 0 } = intent;
  const regular = latestSlot(now, createdAt, intervalSeconds) + intervalSeconds * 1000;
  const retry = retrySlot(world);
  return retry !== undefined && retry > now ? Math.min(regular, retry) : regular;
}
