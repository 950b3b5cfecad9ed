import { expect, it } from 'vitest';
import { aWorld, type Change, outOfContact } from '../../../test/support/worlds.ts';
import type { Alarm } from '../../etcd/words.ts';
import { Failure } from '../../std/failure.ts';
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

/** A cluster whose leader is asked for its alarms, and the alarms that are known after each pass. */
function asked(answers: readonly (readonly Alarm[] | Failure)[]) {
  let [now, questions] = [0, 0];
  const oldAlarms = new OldAlarms({ monotonic: () => now });
  const alarms = async (): Promise<readonly Alarm[]> => {
    const answer = answers[questions++] ?? [];
    if (answer instanceof Failure) throw answer;
    return answer;
  };
  const pass = async (seconds: number, ...changes: readonly Change[]): Promise<readonly string[]> => {
    now += seconds * 1000;
    const sighting = await oldAlarms.added('n/db', aWorld(...changes).membership, (name) =>
      name === 'db-0' ? { alarms } : undefined,
    );
    return sighting.seen
      ? sighting.value.members.flatMap(({ name, alarms: of = [] }) => of.map((a) => `${name} ${a}`))
      : [];
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

it('an alarm is not over because a question was lost', async () => {
  const { pass } = asked([[noSpace], new Failure('unreachable', 'lost')]);
  await pass(0, at('3.3.12'));
  expect(await pass(10, at('3.3.12'))).toEqual(['db-1 NOSPACE']);
});

it('nothing is left of a cluster that is gone', async () => {
  const { pass, oldAlarms } = asked([[noSpace]]);
  await pass(0, at('3.3.12'));
  expect(oldAlarms.size).toBe(1);
  oldAlarms.forget('n/db');
  expect(oldAlarms.size).toBe(0);
});
