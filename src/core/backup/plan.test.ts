import { describe, expect, it } from 'vitest';
import { type Timetable, timetableOf } from '../schedule/timetable.ts';
import type { Agent, AgentState } from './agent.ts';
import type { BackupIntent, BackupMemory, BackupTimes, BackupWorld } from './model.ts';
import { planBackup } from './plan.ts';

const minute = 60_000;
const createdAt = 1_000 * minute;
const tableOf = (schedule: string) => timetableOf({ schedule, timeZone: undefined, since: createdAt }) as Timetable;

const intent: BackupIntent = {
  ...{ name: 'b', namespace: 'n', uid: 'u', createdAt, timeoutSeconds: 60, times: undefined, paused: false },
  ...{ keep: {}, compression: 'none', serviceAccountName: undefined, credentials: 'own', keptFor: undefined },
  source: { endpoints: ['http://db:2379'], tlsSecret: undefined },
  store: { kind: 's3', path: 'bucket/key', field: 'spec.s3.path' },
};
const every = (seconds: number): BackupTimes => ({
  timetable: tableOf(`@every ${seconds}s`),
  ...{ startsAtOnce: true, startingDeadlineSeconds: undefined },
});
const periodic: BackupIntent = { ...intent, times: every(60) };
const never: BackupMemory = { isFinished: false, lastSlot: undefined, failures: 0 };

const world = (over: Partial<BackupWorld> = {}): BackupWorld => ({
  ...{ now: createdAt + 5_000, intent, memory: never, agents: [], obstacle: undefined },
  ...over,
});
const agent = (state: AgentState, slot = createdAt): Agent => ({ name: 'b-1', uid: 'a', slot, createdAt: slot, state });
const ended = (ok: boolean): AgentState => ({ is: 'ended', report: { ok, message: '', facts: {} } });

describe('a single backup', () => {
  it('starts at once', () => {
    expect(planBackup(world())).toEqual({ is: 'start', slot: createdAt });
    const running = agent({ is: 'running' });
    expect(planBackup(world({ agents: [running] }))).toMatchObject({ is: 'wait', for: 'agent' });
  });

  it('waits while it is blocked, and the message names the cause', () => {
    const obstacle = 'Secret aws is missing';
    expect(planBackup(world({ obstacle }))).toEqual({ is: 'wait', for: 'obstacle', message: obstacle });
  });

  it('is recorded before its pod is deleted', () => {
    const done = agent(ended(true));
    expect(planBackup(world({ agents: [done] }))).toMatchObject({ is: 'conclude', agent: done });
    const memory = { isFinished: true, lastSlot: createdAt, failures: 0 };
    expect(planBackup(world({ memory, agents: [done] }))).toEqual({ is: 'discard', agent: done });
  });

  it('is never repeated, and the pod of a failed backup stays for its log', () => {
    const memory = { isFinished: true, lastSlot: createdAt, failures: 1 };
    expect(planBackup(world({ memory, agents: [agent(ended(false))] }))).toEqual({ is: 'finished' });
    expect(planBackup(world({ memory: { ...never, isFinished: true } }))).toEqual({ is: 'finished' });
  });

  it('gets a new pod after an interruption, within the time limit of the run', () => {
    const report = { ok: false, message: 'Error', facts: {}, wasInterrupted: true };
    const killed = agent({ is: 'ended', report });
    expect(planBackup(world({ agents: [killed] }))).toMatchObject({ is: 'discard', agent: killed });
    const late = world({ agents: [killed], now: createdAt + 5 * minute });
    expect(planBackup(late)).toMatchObject({ is: 'conclude', report });
  });

  it('counts its time limit from the start of the run, not from its creation', () => {
    const startedAt = createdAt + 60 * minute;
    const report = { ok: false, message: 'evicted', facts: {}, wasInterrupted: true };
    const killed = { ...agent({ is: 'ended', report }), createdAt: startedAt };
    const at = (now: number, begunAt?: number) =>
      planBackup(world({ agents: [killed], now, memory: { ...never, begunAt } }));
    expect(at(startedAt + minute)).toMatchObject({ is: 'discard', agent: killed });
    expect(at(startedAt + minute, startedAt - minute)).toMatchObject({ is: 'discard', agent: killed });
    expect(at(startedAt + minute, startedAt - 5 * minute)).toMatchObject({ is: 'conclude', report });
  });

  it('fails if its pod exceeds the time limit', () => {
    const stuck = agent({ is: 'starting', why: 'no such image' });
    expect(planBackup(world({ agents: [stuck], now: createdAt + 5 * minute }))).toMatchObject({
      is: 'conclude',
      report: { ok: false, message: 'pod b-1 has not ended within 240 s: no such image' },
    });
  });
});

describe('a backup with an interval', () => {
  const after = (lastSlot: number | undefined, now: number): ReturnType<typeof planBackup> =>
    planBackup(world({ intent: periodic, memory: { ...never, lastSlot }, now }));

  it('starts at once, and then after each interval', () => {
    expect(after(undefined, createdAt + 1)).toEqual({ is: 'start', slot: createdAt });
    const due = createdAt + minute;
    expect(after(createdAt, createdAt + 2)).toEqual({ is: 'wait', for: 'time', until: due });
    expect(after(createdAt, due - 1)).toEqual({ is: 'wait', for: 'time', until: due });
    expect(after(createdAt, due)).toEqual({ is: 'start', slot: due });
  });

  it('makes up for one run after an outage, not for all', () => {
    const now = createdAt + 7.5 * minute;
    expect(after(createdAt, now)).toEqual({ is: 'start', slot: createdAt + 7 * minute });
    expect(after(createdAt + 7 * minute, now)).toEqual({ is: 'wait', for: 'time', until: createdAt + 8 * minute });
  });

  it('never has two pods, even if a run takes longer than the interval', () => {
    const running = agent({ is: 'running' });
    const verdict = planBackup(world({ intent: periodic, agents: [running], now: createdAt + 2 * minute }));
    expect(verdict).toMatchObject({ is: 'wait', for: 'agent' });
  });

  it('waits for a terminating pod, except on a lost node', () => {
    const now = createdAt + minute;
    const memory = { ...never, lastSlot: createdAt };
    const leaving = { ...agent({ is: 'starting', why: 'it is being deleted' }), isTerminating: true };
    const at = (agents: readonly Agent[]) => planBackup(world({ intent: periodic, memory, agents, now }));
    expect(at([leaving])).toMatchObject({ is: 'wait', for: 'agent', message: 'pod b-1 is being deleted' });
    expect(at([{ ...leaving, isOverdue: true }])).toEqual({ is: 'start', slot: now });
    const early = planBackup(world({ intent: periodic, memory, agents: [leaving], now: now - 1 }));
    expect(early).toMatchObject({ is: 'wait', for: 'time' });
  });

  it('keeps the pod of a failed run until the next one is due', () => {
    const memory = { ...never, lastSlot: createdAt, failures: 1 };
    const left = agent(ended(false));
    const at = (now: number) => planBackup(world({ intent: periodic, memory, agents: [left], now }));
    expect(at(createdAt + 1_000)).toMatchObject({ is: 'wait', for: 'time' });
    expect(at(createdAt + minute)).toEqual({ is: 'discard', agent: left });
  });

  it('is retried with a growing delay after failures, and never later than the next regular run', () => {
    const daily = { ...intent, times: every(86_400) };
    const at = (failures: number, now: number, lastSlot = createdAt) =>
      planBackup(world({ intent: daily, memory: { ...never, lastSlot, failures }, now }));
    expect(at(1, createdAt + minute - 1)).toEqual({ is: 'wait', for: 'time', until: createdAt + minute });
    expect(at(1, createdAt + 1.5 * minute)).toEqual({ is: 'start', slot: createdAt + minute });
    const second = createdAt + minute;
    expect(at(2, second + minute, second)).toEqual({ is: 'wait', for: 'time', until: second + 2 * minute });
    expect(at(2, second + 3 * minute, second)).toEqual({ is: 'start', slot: second + 2 * minute });
    const tomorrow = createdAt + 1440 * minute;
    expect(at(50, tomorrow - 1)).toEqual({ is: 'wait', for: 'time', until: tomorrow });
    expect(at(50, tomorrow)).toEqual({ is: 'start', slot: tomorrow });
    expect(at(0, createdAt + 2 * minute)).toEqual({ is: 'wait', for: 'time', until: tomorrow });
  });

  it('does not run while it is suspended', () => {
    const suspended = { ...periodic, paused: true };
    expect(planBackup(world({ intent: suspended }))).toEqual({ is: 'paused' });
  });

  it('corrects a last run that was recorded in the future', () => {
    const now = createdAt + 7.5 * minute;
    const ahead = createdAt + 50_000 * minute;
    expect(after(ahead, now)).toEqual({ is: 'wait', for: 'time', until: createdAt + 8 * minute, lastSlot: now });
    expect(after(now, createdAt + 8 * minute)).toEqual({ is: 'start', slot: createdAt + 8 * minute });
  });

  it('deletes a pod with a scheduled time in the future before that correction', () => {
    const ahead = createdAt + 50_000 * minute;
    const left = agent(ended(false), ahead);
    const memory = { ...never, lastSlot: ahead, failures: 1 };
    const verdict = planBackup(world({ intent: periodic, memory, agents: [left], now: createdAt + 1_000 }));
    expect(verdict).toEqual({ is: 'discard', agent: left });
  });

  it('does not run twice while the clock of the operator is behind that of the API server', () => {
    expect(after(createdAt, createdAt - 5 * minute)).toEqual({
      ...{ is: 'wait', for: 'time', until: createdAt + minute, lastSlot: undefined },
    });
    expect(after(createdAt + minute, createdAt - 5 * minute)).toMatchObject({ is: 'wait', lastSlot: createdAt });
  });

  it('does not run again after the clock is set back', () => {
    expect(after(createdAt + minute, createdAt - minute)).toMatchObject({ is: 'wait', for: 'time' });
  });
});

describe('a backup with a schedule', () => {
  const hour = 60 * minute;
  const one = 17 * hour; // it is created at 16:40
  const hourly: BackupTimes = {
    ...{ timetable: tableOf('@hourly'), startsAtOnce: false, startingDeadlineSeconds: undefined },
  };
  const at = (now: number, memory: Partial<BackupMemory> = {}, times: Partial<BackupTimes> = {}) =>
    planBackup(world({ intent: { ...intent, times: { ...hourly, ...times } }, memory: { ...never, ...memory }, now }));

  it('runs at the first scheduled time after its creation, not at once', () => {
    expect(at(createdAt)).toEqual({ is: 'wait', for: 'time', until: one });
    expect(at(createdAt - hour)).toEqual({ is: 'wait', for: 'time', until: one });
    expect(at(one - 1)).toEqual({ is: 'wait', for: 'time', until: one });
    expect(at(one)).toEqual({ is: 'start', slot: one });
    expect(at(one + 1, { lastSlot: one })).toEqual({ is: 'wait', for: 'time', until: one + hour });
  });

  it('makes up for one run after an outage, not for all', () => {
    expect(at(one + 7.5 * hour, { lastSlot: one })).toEqual({ is: 'start', slot: one + 7 * hour });
  });

  it('skips a run after its starting deadline, and reports it', () => {
    const strict = { startingDeadlineSeconds: 600 };
    const late = one + 10 * minute;
    expect(at(late, {}, strict)).toEqual({ is: 'start', slot: one });
    const missed = { is: 'wait', for: 'time', until: one + hour, missed: one };
    expect(at(late + 1, {}, strict)).toEqual(missed);
    expect(at(late + 1, { begunAt: late - minute }, strict)).toEqual({ is: 'start', slot: one });
    expect(at(late + 1, { begunAt: one - 1 }, strict)).toEqual(missed);
    expect(at(late + 1, { lastSlot: one }, strict)).toEqual({ is: 'wait', for: 'time', until: one + hour });
  });

  it('skips a late run with an interval too', () => {
    const strict = { ...every(3600), startingDeadlineSeconds: 600 };
    expect(at(createdAt + 5 * minute, {}, strict)).toEqual({ is: 'start', slot: createdAt });
    expect(at(createdAt + 11 * minute, {}, strict)).toMatchObject({ until: createdAt + hour, missed: createdAt });
  });

  it('is retried after a failure, until its starting deadline', () => {
    const failed = { lastSlot: one, failures: 1 };
    expect(at(one + 1, failed)).toEqual({ is: 'wait', for: 'time', until: one + minute });
    expect(at(one + minute, failed)).toEqual({ is: 'start', slot: one + minute });
    const seventh = { lastSlot: one + 50 * minute, failures: 7 };
    expect(at(one + 51 * minute, seventh)).toEqual({ is: 'wait', for: 'time', until: one + hour });
    expect(at(one + hour, seventh)).toEqual({ is: 'start', slot: one + hour });
    const strict = { startingDeadlineSeconds: 90 };
    expect(at(one + minute, failed, strict)).toEqual({ is: 'start', slot: one + minute });
    expect(at(one + 2 * minute, failed, strict)).toEqual({ is: 'wait', for: 'time', until: one + hour });
    const twice = { lastSlot: one + minute, failures: 2 };
    expect(at(one + minute + 1, twice, strict)).toEqual({ is: 'wait', for: 'time', until: one + hour });
  });

  it('is retried before its first scheduled time after a failure under an earlier policy', () => {
    const failed = { lastSlot: createdAt, failures: 1 };
    expect(at(createdAt + minute, failed)).toEqual({ is: 'start', slot: createdAt + minute });
  });
});
