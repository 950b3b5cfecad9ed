import { describe, expect, it } from 'vitest';
import type { Agent, AgentState } from '../../model/agent.ts';
import type { BackupIntent, BackupMemory, BackupWorld } from '../../model/backup.ts';
import { planBackup } from './plan-backup.ts';

const minute = 60_000;
const createdAt = 1_000 * minute;

const intent: BackupIntent = {
  ...{ name: 'b', namespace: 'n', uid: 'u', createdAt, timeoutSeconds: 60, intervalSeconds: undefined, paused: false },
  ...{ keep: {}, compression: 'none', serviceAccountName: undefined },
  source: { endpoints: ['http://db:2379'], tlsSecret: undefined },
  store: { kind: 's3', path: 'bucket/key', field: 'spec.s3.path' },
};
const periodic: BackupIntent = { ...intent, intervalSeconds: 60 };
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

  it('keeps the pod of a failed run until the next one is due', () => {
    const memory = { ...never, lastSlot: createdAt, failures: 1 };
    const left = agent(ended(false));
    const at = (now: number) => planBackup(world({ intent: periodic, memory, agents: [left], now }));
    expect(at(createdAt + 1_000)).toMatchObject({ is: 'wait', for: 'time' });
    expect(at(createdAt + minute)).toEqual({ is: 'discard', agent: left });
  });

  it('is tried again after a failure, later each time, and never later than it would be made anyway', () => {
    const daily = { ...intent, intervalSeconds: 86_400 };
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

  it('is not confused by a clock that was put back', () => {
    expect(after(createdAt + minute, createdAt - minute)).toMatchObject({ is: 'wait', for: 'time' });
  });
});
