import { expect, it } from 'vitest';
import { isUp, stateOfSeed } from './seed-state.ts';

const pod = (status: object, metadata: object = {}) =>
  ({ metadata: { name: 'db-seed', ...metadata }, status }) as never;
const ended = (name: string, exitCode: number, message: object) => ({
  ...{ name, restartCount: 0 },
  state: { terminated: { exitCode, reason: 'Error', message: JSON.stringify(message) } },
});
const stateOf = (status: object, metadata?: object) => stateOfSeed(pod(status, metadata), false, { wayTo: undefined });

const whole = ended('fetch-backup', 0, { ok: true, size: 7, version: '3.6.16', warnings: ['a doubt'] });

it('is refused at once, where the backup is no good', async () => {
  const said = { ok: false, trouble: 'damaged', mayPass: false, message: 'bytes were lost' };
  const initContainerStatuses = [ended('fetch-backup', 1, said)];
  expect(await stateOf({ phase: 'Pending', initContainerStatuses })).toEqual({
    state: 'refused',
    why: 'bytes were lost',
  });
  const { state: lastState, ...rest } = ended('fetch-backup', 1, said);
  const again = { ...rest, restartCount: 1, lastState, state: { waiting: { reason: 'CrashLoopBackOff' } } };
  expect(await stateOf({ phase: 'Pending', initContainerStatuses: [again] })).toMatchObject({ state: 'refused' });
});

it('is broken, where the store fails again and again, and says what the agent said', async () => {
  const said = { ok: false, trouble: 'unreachable', mayPass: true, message: 'no connection' };
  const once = ended('fetch-backup', 1, said);
  expect(await stateOf({ phase: 'Pending', initContainerStatuses: [once] })).toMatchObject({ state: 'starting' });
  expect(await stateOf({ phase: 'Pending', initContainerStatuses: [{ ...once, restartCount: 2 }] })).toMatchObject({
    ...{ state: 'broken', why: 'fetch-backup fails: no connection' },
  });
});

it('says until when it was at work, where it broke off after a while', async () => {
  const time = (seconds: number): string => new Date(seconds * 1000).toISOString();
  const brokeOff = (began: number, end: number) => ({
    ...{ name: 'fetch-backup', restartCount: 1, state: { waiting: { reason: 'CrashLoopBackOff' } } },
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

it('is not broken, where what failed again and again is at work now or has ended well', async () => {
  const lastState = { terminated: { exitCode: 1, reason: 'Error', message: 'no connection' } };
  const fetching = { name: 'fetch-backup', restartCount: 3, lastState, state: { running: {} } };
  const waiting = (name: string) => ({ name, restartCount: 0, state: { waiting: { reason: 'PodInitializing' } } });
  const at = (initContainerStatuses: readonly object[]) => stateOf({ phase: 'Pending', initContainerStatuses });
  expect(await at([fetching, waiting('restore-datadir')])).toMatchObject({
    ...{ state: 'starting', why: 'the backup is read and proven' },
  });
  const making = { name: 'restore-datadir', restartCount: 0, state: { running: {} } };
  expect(await at([{ ...whole, restartCount: 3, lastState }, making])).toMatchObject({
    ...{ state: 'starting', why: 'restore-datadir is at work', facts: { size: 7 } },
  });
  const backingOff = { ...fetching, state: { waiting: { reason: 'CrashLoopBackOff' } } };
  expect(await at([backingOff])).toMatchObject({ state: 'broken', why: 'fetch-backup fails: no connection' });
});

it('says what is being done, and what the backup was found to be', async () => {
  const running = (name: string) => ({ name, restartCount: 0, state: { running: {} } });
  expect(await stateOf({ phase: 'Pending', initContainerStatuses: [running('fetch-backup')] })).toMatchObject({
    ...{ state: 'starting', why: 'the backup is read and proven' },
  });
  const making = { phase: 'Pending', initContainerStatuses: [whole, running('restore-datadir')] };
  expect(await stateOf(making)).toMatchObject({
    ...{ state: 'starting', why: 'restore-datadir is at work', facts: { size: 7, warnings: ['a doubt'] } },
  });
  const served = stateOfSeed(pod({ phase: 'Running', initContainerStatuses: [whole] }), true, { wayTo: undefined });
  expect(await served).toMatchObject({ state: 'ready', facts: { version: '3.6.16' } });
});

it('is up as soon as its etcd runs', () => {
  expect(isUp(pod({ containerStatuses: [{ name: 'etcd', state: { running: {} } }] }))).toBe(true);
  expect(isUp(pod({ containerStatuses: [{ name: 'etcd', state: { waiting: {} } }] }))).toBe(false);
  expect(isUp(pod({}))).toBe(false);
});

it('says nothing of one that is being deleted', async () => {
  expect(await stateOf({}, { deletionTimestamp: '2026-01-01T00:00:00Z' })).toMatchObject({ state: 'stopping' });
});
