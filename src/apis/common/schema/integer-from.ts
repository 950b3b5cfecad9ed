import { z } from 'zod';
import { withRules } from './rule.ts';

const int32 = 2_147_483_647;

/** Integers from `least` to the largest int32. */
export const integerFrom = (least: number) =>
  withRules(z.int(), {
    cel: `self >= ${least} && self <= ${int32}`,
    message: `must be from ${least} to ${int32}`,
    holds: (value) => value >= least && value <= int32,
  });
