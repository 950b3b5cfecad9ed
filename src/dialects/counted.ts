import { z } from 'zod';
import { ruled } from './rule.ts';

const int32 = 2_147_483_647;

/** Whole numbers from `least` on. */
export const counted = (least: number) =>
  ruled(z.int(), {
    cel: `self >= ${least} && self <= ${int32}`,
    says: `must be from ${least} to ${int32}`,
    holds: (value) => value >= least && value <= int32,
  });
