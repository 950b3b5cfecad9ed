import { z } from 'zod';
import { text } from '../common/schema/rule.ts';

/** The schema of a condition. `typeDescription` lists the condition types. */
export const conditionFields = (typeDescription: string) =>
  z.object({
    type: text(316).describe(typeDescription),
    status: z.enum(['True', 'False', 'Unknown']).describe('status is True, False or Unknown.'),
    reason: text(1024).optional().describe('reason is the cause in one word.'),
    message: text(32_768).optional().describe('message is the cause in one sentence.'),
    lastTransitionTime: text(64).optional().describe('lastTransitionTime is when status last changed.'),
  });

type Condition = z.output<ReturnType<typeof conditionFields>>;
export type UntimedCondition = Omit<Condition, 'lastTransitionTime'>;

/** Adds transition times to conditions. A time changes only with the status. */
export const withTransitionTimes = (
  conditions: readonly UntimedCondition[],
  before: readonly Condition[],
  now: Date,
): Condition[] =>
  conditions.map((condition) => {
    const old = before.find(({ type }) => type === condition.type);
    const time = now.toISOString().replace(/\.\d+Z$/, 'Z');
    return {
      ...condition,
      lastTransitionTime: old?.status === condition.status ? (old.lastTransitionTime ?? time) : time,
    };
  });
