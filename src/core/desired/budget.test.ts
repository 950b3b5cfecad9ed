import { describe, expect, it } from 'vitest';
import { healthy } from '../../../test/support/worlds.ts';
import { disruptionBudget } from './budget.ts';
import type { Blueprint } from './manifest.ts';

const least = (size: number, voters: number, learners: number): unknown => {
  const blueprint = { intent: healthy(size).intent, owner: {}, naming: { clusterLabels: {} } } as Blueprint;
  return disruptionBudget(blueprint, { voters, learners })?.spec['minAvailable'];
};

describe('the budget of a cluster keeps up', () => {
  it.each([
    ['a majority', { size: 3, voters: 3, learners: 0, want: 2 }],
    ['a majority of those that there will be', { size: 5, voters: 3, learners: 0, want: 3 }],
    ['a majority of those that there are', { size: 3, voters: 5, learners: 0, want: 3 }],
    ['both voters beside a learner that takes the place of a third', { size: 3, voters: 2, learners: 1, want: 3 }],
    ['a majority beside the learner that is the last to come', { size: 5, voters: 4, learners: 1, want: 4 }],
    ['no more where the first is coming', { size: 5, voters: 3, learners: 1, want: 3 }],
    ['nobody where there is only one', { size: 1, voters: 1, learners: 0, want: undefined }],
  ])('%s', (_, { size, voters, learners, want }) => expect(least(size, voters, learners)).toBe(want));
});
