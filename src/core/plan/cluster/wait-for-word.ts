import { type Rule, waitForPerson } from './step.ts';

/** Disks of several clusters have one name: nothing starts on any of them before somebody has said which are meant. */
export const waitForWord: Rule = ({ memory: { doubt } }) =>
  doubt === undefined ? undefined : waitForPerson('WrongCluster', doubt);
