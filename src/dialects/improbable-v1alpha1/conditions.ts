import { z } from 'zod';
import { text } from '../rule.ts';

/** A condition of this API, whose types `means` tells. */
export const conditionFields = (means: string) =>
  z.object({
    type: text(316).describe(means),
    status: z.enum(['True', 'False', 'Unknown']).describe('Whether it is so.'),
    reason: text(1024).optional().describe('Why, in a word.'),
    message: text(32_768).optional().describe('Why, in a sentence.'),
    lastTransitionTime: text(64).optional().describe('When status last changed.'),
  });

type Condition = z.output<ReturnType<typeof conditionFields>>;
export type Said = Omit<Condition, 'lastTransitionTime'>;

/** The time changes only with the status that it is the time of. */
export const stamped = (said: readonly Said[], before: readonly Condition[], now: Date): Condition[] =>
  said.map((condition) => {
    const old = before.find(({ type }) => type === condition.type);
    const time = now.toISOString().replace(/\.\d+Z$/, 'Z');
    return {
      ...condition,
      lastTransitionTime: old?.status === condition.status ? (old.lastTransitionTime ?? time) : time,
    };
  });
