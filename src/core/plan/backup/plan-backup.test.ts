import { describe, expect, it } from 'vitest';
import type { Agent, AgentState } from '../../model/agent.ts';
import type { BackupIntent, BackupMemory, BackupTimes, BackupWorld } from '../../model/backup.ts';
import { type Timetable, timetableOf } from '../../schedule/timetable.ts';
import { planBackup } from './plan-backup.ts';

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

describe('a backup that is made once', () => {
  it('starts at once, and is waited for', () => {
    expect(planBackup(world())).toEqual({ is: 'start', slot: createdAt });
    const running = agent({ is: 'running' });
    expect(planBackup(world({ agents: [running] }))).toMatchObject({ is: 'wait', for: 'agent' });
  });

  it('waits for what stands in its way, and says what that is', () => {
    const obstacle = 'Secret aws is missing';
    expect(planBackup(world({ obstacle }))).toEqual({ is: 'wait', for: 'obstacle', message: obstacle });
  });

  it('is written down before its agent goes', () => {
    const done = agent(ended(true));
    expect(planBackup(world({ agents: [done] }))).toMatchObject({ is: 'conclude', agent: done });
    const memory = { isFinished: true, lastSlot: createdAt, failures: 0 };
    expect(planBackup(world({ memory, agents: [done] }))).toEqual({ is: 'discard', agent: done });
  });

  it('is never made again, and the pod of one that failed stays for its log', () => {
    const memory = { isFinished: true, lastSlot: createdAt, failures: 1 };
    expect(planBackup(world({ memory, agents: [agent(ended(false))] }))).toEqual({ is: 'finished' });
    expect(planBackup(world({ memory: { ...never, isFinished: true } }))).toEqual({ is: 'finished' });
  });

  it('begins again where its agent was ended by somebody else, for as long as one run may take', () => {
    const report = { ok: false, message: 'Error', facts: {}, isCutShort: true };
    const killed = agent({ is: 'ended', report });
    expect(planBackup(world({ agents: [killed] }))).toMatchObject({ is: 'discard', agent: killed });
    const late = world({ agents: [killed], now: createdAt + 5 * minute });
    expect(planBackup(late)).toMatchObject({ is: 'conclude', report });
  });

  it('begins again in the same way where it could not begin before, however long it was held up', () => {
    const heldUpUntil = createdAt + 60 * minute;
    const report = { ok: false, message: 'evicted', facts: {}, isCutShort: true };
    const killed = { ...agent({ is: 'ended', report }), createdAt: heldUpUntil };
    const at = (now: number, begunAt?: number) =>
      planBackup(world({ agents: [killed], now, memory: { ...never, begunAt } }));
    expect(at(heldUpUntil + minute)).toMatchObject({ is: 'discard', agent: killed });
    expect(at(heldUpUntil + minute, heldUpUntil - minute)).toMatchObject({ is: 'discard', agent: killed });
    expect(at(heldUpUntil + minute, heldUpUntil - 5 * minute)).toMatchObject({ is: 'conclude', report });
  });

  it('has failed when its agent does not get to its end in time', () => {
    const stuck = agent({ is: 'starting', why: 'no such image' });
    expect(planBackup(world({ agents: [stuck], now: createdAt + 5 * minute }))).toMatchObject({
      is: 'conclude',
      report: { ok: false, message: 'pod b-1 has not ended within 240 s: no such image' },
    });
  });
});

describe('a backup that is made again and again', () => {
  const after = (lastSlot: number | undefined, now: number): ReturnType<typeof planBackup> =>
    planBackup(world({ intent: periodic, memory: { ...never, lastSlot }, now }));

  it('is made at once, and then when its time has come', () => {
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

  it('never has two agents: one that takes longer than the interval is waited for', () => {
    const running = agent({ is: 'running' });
    const verdict = planBackup(world({ intent: periodic, agents: [running], now: createdAt + 2 * minute }));
    expect(verdict).toMatchObject({ is: 'wait', for: 'agent' });
  });

  it('asks a pod once to go, and waits for it, but not for one whose node is lost', () => {
    const now = createdAt + minute;
    const memory = { ...never, lastSlot: createdAt };
    const leaving = { ...agent({ is: 'starting', why: 'it is being deleted' }), isGoing: true };
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

  it('is tried again after a failure, later each time, and never later than it would be made anyway', () => {
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

  it('is not made while it is suspended', () => {
    const suspended = { ...periodic, paused: true };
    expect(planBackup(world({ intent: suspended }))).toEqual({ is: 'paused' });
  });

  it('does not stay silent after a clock that was ahead: what is remembered is put right', () => {
    const now = createdAt + 7.5 * minute;
    const ahead = createdAt + 50_000 * minute;
    expect(after(ahead, now)).toEqual({ is: 'wait', for: 'time', until: createdAt + 8 * minute, lastSlot: now });
    expect(after(now, createdAt + 8 * minute)).toEqual({ is: 'start', slot: createdAt + 8 * minute });
  });

  it('has the pod of a time that has not come yet removed before that is put right', () => {
    const ahead = createdAt + 50_000 * minute;
    const left = agent(ended(false), ahead);
    const memory = { ...never, lastSlot: ahead, failures: 1 };
    const verdict = planBackup(world({ intent: periodic, memory, agents: [left], now: createdAt + 1_000 }));
    expect(verdict).toEqual({ is: 'discard', agent: left });
  });

  it('is not made twice while our clock is behind that of the API server', () => {
    expect(after(createdAt, createdAt - 5 * minute)).toEqual({
      ...{ is: 'wait', for: 'time', until: createdAt + minute, lastSlot: undefined },
    });
    expect(after(createdAt + minute, createdAt - 5 * minute)).toMatchObject({ is: 'wait', lastSlot: createdAt });
  });

  it('is not confused by a clock that was put back', () => {
    expect(after(createdAt + minute, createdAt - minute)).toMatchObject({ is: 'wait', for: 'time' });
  });
});

describe('a backup that is made at certain times', () => {
  const hour = 60 * minute;
  const one = 17 * hour; // it is created at 16:40
  const hourly: BackupTimes = {
    ...{ timetable: tableOf('@hourly'), startsAtOnce: false, startingDeadlineSeconds: undefined },
  };
  const at = (now: number, memory: Partial<BackupMemory> = {}, times: Partial<BackupTimes> = {}) =>
    planBackup(world({ intent: { ...intent, times: { ...hourly, ...times } }, memory: { ...never, ...memory }, now }));

  it('is made when its time has come, not at once, nor for a time before it was there', () => {
    expect(at(createdAt)).toEqual({ is: 'wait', for: 'time', until: one });
    expect(at(createdAt - hour)).toEqual({ is: 'wait', for: 'time', until: one });
    expect(at(one - 1)).toEqual({ is: 'wait', for: 'time', until: one });
    expect(at(one)).toEqual({ is: 'start', slot: one });
    expect(at(one + 1, { lastSlot: one })).toEqual({ is: 'wait', for: 'time', until: one + hour });
  });

  it('makes up for one run after an outage, not for all', () => {
    expect(at(one + 7.5 * hour, { lastSlot: one })).toEqual({ is: 'start', slot: one + 7 * hour });
  });

  it('leaves out a run that is later than it may be, and says so', () => {
    const strict = { startingDeadlineSeconds: 600 };
    const late = one + 10 * minute;
    expect(at(late, {}, strict)).toEqual({ is: 'start', slot: one });
    const missed = { is: 'wait', for: 'time', until: one + hour, missed: one };
    expect(at(late + 1, {}, strict)).toEqual(missed);
    expect(at(late + 1, { begunAt: late - minute }, strict)).toEqual({ is: 'start', slot: one });
    expect(at(late + 1, { begunAt: one - 1 }, strict)).toEqual(missed);
    expect(at(late + 1, { lastSlot: one }, strict)).toEqual({ is: 'wait', for: 'time', until: one + hour });
  });

  it('is left out in the same way where it is made so often', () => {
    const strict = { ...every(3600), startingDeadlineSeconds: 600 };
    expect(at(createdAt + 5 * minute, {}, strict)).toEqual({ is: 'start', slot: createdAt });
    expect(at(createdAt + 11 * minute, {}, strict)).toMatchObject({ until: createdAt + hour, missed: createdAt });
  });

  it('is tried again after a failure, but no later than it may begin', () => {
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

  it('is tried again also before its first time, where it has failed under an earlier policy', () => {
    const failed = { lastSlot: createdAt, failures: 1 };
    expect(at(createdAt + minute, failed)).toEqual({ is: 'start', slot: createdAt + minute });
  });
});
