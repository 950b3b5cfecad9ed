import { type Rule, waitForPerson } from './step.ts';

/** What we may not see may be there all the same: nothing is touched before somebody has let us look. */
export const waitForSight: Rule = ({ outOfSight }) =>
  outOfSight === undefined ? undefined : waitForPerson('MissingRights', outOfSight);
