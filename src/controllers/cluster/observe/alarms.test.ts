import { expect, it } from 'vitest';
import { aWorld, type Change, outOfContact, withMember } from '../../../../test/support/worlds.ts';
import type { Alarm } from '../../../etcd/types.ts';
import { Failure } from '../../../std/failure.ts';
import { OldAlarms } from './alarms.ts';

const at =
  (version: string): Change =>
  (w) => ({
    ...w,
    membership: w.membership.seen
      ? {
          seen: true,
          value: { ...w.membership.value, members: w.membership.value.members.map((m) => ({ ...m, version })) },
        }
      : w.membership,
  });

type Answer = readonly Alarm[] | Failure;

/** A cluster with these answers of the leader, and of the other members. `pass` returns the known alarms. */
function asked(answers: readonly Answer[], others: Answer = new Failure('unreachable', 'lost')) {
  let [now, questions] = [0, 0];
  const oldAlarms = new OldAlarms({ monotonic: () => now });
  const alarms = async (): Promise<readonly Alarm[]> => {
    const answer = answers[questions++] ?? [];
    if (answer instanceof Failure) throw answer;
    return answer;
  };
  const ofOthers = async (): Promise<readonly Alarm[]> => {
    if (others instanceof Failure) throw others;
    return others;
  };
  const pass = async (seconds: number, ...changes: readonly Change[]): Promise<readonly string[]> => {
    now += seconds * 1000;
    const observation = await oldAlarms.addTo('n/db', aWorld(...changes).membership, (name) => ({
      alarms: name === 'db-0' ? alarms : ofOthers,
    }));
    if (!observation.seen) return [];
    const { members, leftAlarms = [], areAlarmsUnknown } = observation.value;
    const known = members.flatMap(({ name, alarms: of = [] }) => of.map((a) => `${name} ${a}`));
    return [...known, ...leftAlarms, ...(areAlarmsUnknown === true ? ['unknown'] : [])];
  };
  return { pass, oldAlarms, questions: () => questions };
}

const noSpace: Alarm = { memberId: 2n, kind: 'no-space' };

it('members before 3.4 are asked for their alarms, at most every ten seconds', async () => {
  const { pass, questions } = asked([[noSpace], []]);
  expect(await pass(0, at('3.3.12'))).toEqual(['db-1 NOSPACE']);
  expect(await pass(9, at('3.3.12'))).toEqual(['db-1 NOSPACE']);
  expect(questions()).toBe(1);
  expect(await pass(1, at('3.3.12'))).toEqual([]);
});

it('members from 3.4 on, and members that cannot be reached, are not asked', async () => {
  const { pass, questions } = asked([]);
  await pass(0, at('3.4.31'));
  await pass(99, outOfContact());
  expect(questions()).toBe(0);
});

it('an alarm stays after an unanswered request', async () => {
  const { pass } = asked([[noSpace], new Failure('unreachable', 'lost')]);
  await pass(0, at('3.3.12'));
  expect(await pass(10, at('3.3.12'))).toEqual(['db-1 NOSPACE']);
});

const lost = new Failure('unreachable', 'lost');

it('alarms are unknown until a member answers, and are requested again in the next pass', async () => {
  const { pass } = asked([lost, [noSpace], lost]);
  expect(await pass(0, at('3.3.12'))).toEqual(['unknown']);
  expect(await pass(1, at('3.3.12'))).toEqual(['db-1 NOSPACE']);
  expect(await pass(10, at('3.3.12'))).toEqual(['db-1 NOSPACE']);
});

it('alarms are known if another member answers instead of the leader', async () => {
  const { pass, questions } = asked([lost], [noSpace]);
  expect(await pass(0, at('3.3.12'))).toEqual(['db-1 NOSPACE']);
  expect(await pass(9, at('3.3.12'))).toEqual(['db-1 NOSPACE']);
  expect(questions()).toBe(1);
});

it('alarms in the status of newer members are kept, with and without an answer of older members', async () => {
  const mixed = [at('3.3.12'), withMember('db-2', { version: '3.4.31', alarms: ['CORRUPT'] })];
  const left: Change = (w) =>
    w.membership.seen
      ? { ...w, membership: { seen: true, value: { ...w.membership.value, leftAlarms: ['CORRUPT'] } } }
      : w;
  const { pass } = asked([lost, [noSpace], [], [{ memberId: 99n, kind: 'no-space' }]]);
  expect(await pass(0, ...mixed)).toEqual(['db-2 CORRUPT']);
  expect(await pass(0, ...mixed)).toEqual(['db-1 NOSPACE', 'db-2 CORRUPT']);
  expect(await pass(10, ...mixed)).toEqual(['db-2 CORRUPT']);
  expect(await pass(10, ...mixed, left)).toEqual(['db-2 CORRUPT', 'CORRUPT', 'NOSPACE']);
});

it('a forgotten cluster leaves no entry', async () => {
  const { pass, oldAlarms } = asked([[noSpace]]);
  await pass(0, at('3.3.12'));
  expect(oldAlarms.size).toBe(1);
  oldAlarms.forget('n/db');
  expect(oldAlarms.size).toBe(0);
});
