import { describe, expect, it } from 'vitest';
import { healthy } from '../../../test/support/worlds.ts';
import { disruptionBudget } from './budget.ts';
import type { Blueprint } from './manifest.ts';

const least = (size: number, voters: number, learners: number): unknown => {
  const blueprint = { intent: healthy(size).intent, owner: {}, naming: { clusterLabels: {} } } as Blueprint;
  return disruptionBudget(blueprint, { voters, learners })?.spec['minAvailable'];
};

describe('the PodDisruptionBudget of a cluster protects', () => {
  it.each([
    ['a quorum', { size: 3, voters: 3, learners: 0, want: 2 }],
    ['a quorum of the future voters', { size: 5, voters: 3, learners: 0, want: 3 }],
    ['a quorum of the current voters', { size: 3, voters: 5, learners: 0, want: 3 }],
    ['both voters beside a learner that replaces a third', { size: 3, voters: 2, learners: 1, want: 3 }],
    ['a quorum beside the last joining learner', { size: 5, voters: 4, learners: 1, want: 4 }],
    ['no more members while the first learner joins', { size: 5, voters: 3, learners: 1, want: 3 }],
    ['nothing in a cluster of one', { size: 1, voters: 1, learners: 0, want: undefined }],
  ])('%s', (_, { size, voters, learners, want }) => expect(least(size, voters, learners)).toBe(want));
});
