import { expect, it } from 'vitest';
import { isUp, stateOfSeed } from './seed-state.ts';

const pod = (status: object, metadata: object = {}) =>
  ({ metadata: { name: 'db-seed', ...metadata }, status }) as never;
const ended = (name: string, exitCode: number, message: object) => ({
  name,
  restartCount: 0,
  state: { terminated: { exitCode, reason: 'Error', message: JSON.stringify(message) } },
});
const stateOf = (status: object, metadata?: object) =>
  stateOfSeed(pod(status, metadata), false, { dialerTo: undefined });

const whole = ended('fetch-backup', 0, { ok: true, size: 7, version: '3.6.16', warnings: ['a warning'] });

it('a seed is refused at once if its backup is damaged', async () => {
  const result = { ok: false, trouble: 'damaged', mayPass: false, message: 'bytes were lost' };
  const initContainerStatuses = [ended('fetch-backup', 1, result)];
  expect(await stateOf({ phase: 'Pending', initContainerStatuses })).toEqual({
    state: 'refused',
    why: 'bytes were lost',
  });
  const { state: lastState, ...rest } = ended('fetch-backup', 1, result);
  const again = { ...rest, restartCount: 1, lastState, state: { waiting: { reason: 'CrashLoopBackOff' } } };
  expect(await stateOf({ phase: 'Pending', initContainerStatuses: [again] })).toMatchObject({ state: 'refused' });
});

it('a seed is broken if the store fails repeatedly, with the message of the agent', async () => {
  const result = { ok: false, trouble: 'unreachable', mayPass: true, message: 'no connection' };
  const once = ended('fetch-backup', 1, result);
  expect(await stateOf({ phase: 'Pending', initContainerStatuses: [once] })).toMatchObject({ state: 'starting' });
  expect(await stateOf({ phase: 'Pending', initContainerStatuses: [{ ...once, restartCount: 2 }] })).toMatchObject({
    state: 'broken',
    why: 'fetch-backup fails: no connection',
  });
});

it('a broken seed has the time until which its fetch transferred data', async () => {
  const time = (seconds: number): string => new Date(seconds * 1000).toISOString();
  const brokeOff = (began: number, end: number) => ({
    name: 'fetch-backup',
    restartCount: 1,
    state: { waiting: { reason: 'CrashLoopBackOff' } },
    lastState: { terminated: { exitCode: 1, startedAt: time(began), finishedAt: time(end) } },
  });
  const at = (...initContainerStatuses: readonly object[]) => stateOf({ phase: 'Pending', initContainerStatuses });
  expect(await at(brokeOff(100, 700))).toMatchObject({ state: 'broken', workedUntil: 700_000 });
  expect(await at(brokeOff(100, 240))).toMatchObject({ state: 'broken', workedUntil: undefined });
  const fetched = {
    name: 'fetch-backup',
    restartCount: 0,
    state: { terminated: { exitCode: 0, finishedAt: time(9) } },
  };
  const unpulled = { name: 'restore-datadir', restartCount: 0, state: { waiting: { reason: 'ErrImagePull' } } };
  expect(await at(fetched, unpulled)).toMatchObject({ state: 'broken', workedUntil: 9000 });
});

it('a seed is not broken if the container that failed repeatedly runs or has succeeded', async () => {
  const lastState = { terminated: { exitCode: 1, reason: 'Error', message: 'no connection' } };
  const fetching = { name: 'fetch-backup', restartCount: 3, lastState, state: { running: {} } };
  const waiting = (name: string) => ({ name, restartCount: 0, state: { waiting: { reason: 'PodInitializing' } } });
  const at = (initContainerStatuses: readonly object[]) => stateOf({ phase: 'Pending', initContainerStatuses });
  expect(await at([fetching, waiting('restore-datadir')])).toMatchObject({
    state: 'starting',
    why: 'reading and verifying the backup',
  });
  const making = { name: 'restore-datadir', restartCount: 0, state: { running: {} } };
  expect(await at([{ ...whole, restartCount: 3, lastState }, making])).toMatchObject({
    state: 'starting',
    why: 'restore-datadir is running',
    facts: { size: 7 },
  });
  const backingOff = { ...fetching, state: { waiting: { reason: 'CrashLoopBackOff' } } };
  expect(await at([backingOff])).toMatchObject({ state: 'broken', why: 'fetch-backup fails: no connection' });
});

it('a starting seed has its current container and the facts of the backup', async () => {
  const running = (name: string) => ({ name, restartCount: 0, state: { running: {} } });
  expect(await stateOf({ phase: 'Pending', initContainerStatuses: [running('fetch-backup')] })).toMatchObject({
    state: 'starting',
    why: 'reading and verifying the backup',
  });
  const making = { phase: 'Pending', initContainerStatuses: [whole, running('restore-datadir')] };
  expect(await stateOf(making)).toMatchObject({
    state: 'starting',
    why: 'restore-datadir is running',
    facts: { size: 7, warnings: ['a warning'] },
  });
  const served = stateOfSeed(pod({ phase: 'Running', initContainerStatuses: [whole] }), true, { dialerTo: undefined });
  expect(await served).toMatchObject({ state: 'ready', facts: { version: '3.6.16' } });
});

it('a seed is up as soon as its etcd container runs', () => {
  expect(isUp(pod({ containerStatuses: [{ name: 'etcd', state: { running: {} } }] }))).toBe(true);
  expect(isUp(pod({ containerStatuses: [{ name: 'etcd', state: { waiting: {} } }] }))).toBe(false);
  expect(isUp(pod({}))).toBe(false);
});

it('a seed that is being deleted is stopping', async () => {
  expect(await stateOf({}, { deletionTimestamp: '2026-01-01T00:00:00Z' })).toMatchObject({ state: 'stopping' });
});
