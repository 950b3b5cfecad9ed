import { expect, test } from 'vitest';
import { isWithinLimit, median, tableOf } from './figures.ts';

const race = { question: 'three members serve', ours: [1, 9, 2], byHand: [2, 1, 4], limit: 1.3 };
const amount = { question: 'memory', amount: 151, unit: 'MiB', limit: 150 };

test('the median is the middle value, or the mean of the two middle values', () => {
  expect(median([5, 1, 9])).toBe(5);
  expect(median([5, 1, 9, 7])).toBe(6);
  expect(median([])).toBeNaN();
});

test('a figure over its limit is marked', () => {
  expect(isWithinLimit(race)).toBe(true);
  expect(isWithinLimit({ ...race, ours: [2, 9, 3] })).toBe(false);
  expect(isWithinLimit({ ...race, ours: [] })).toBe(false);
  expect(isWithinLimit(amount)).toBe(false);
  expect(tableOf([race, amount])).toMatchInlineSnapshot(`
    "                        ours  by hand  ratio  limit
    three members serve   2.00 s   2.00 s   1.00   1.30
    memory               151 MiB                    150  OVER"
  `);
});
