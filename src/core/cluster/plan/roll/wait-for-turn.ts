import { type Rule, wait } from '../step.ts';

/** Waits while as many other clusters roll as the operator allows. */
export const waitForTurn: Rule = ({ rollLimit }) =>
  rollLimit === undefined
    ? undefined
    : wait('RollQueued', `waiting for a turn: ${rollLimit} clusters roll at once (--max-rolls)`);
