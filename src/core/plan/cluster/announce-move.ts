import { type Rule, wait } from './step.ts';

/** Clients are told before the first member serves them in another way. */
export const announceMove: Rule = ({ clientMove, isMoveTold = false }) =>
  clientMove === undefined || isMoveTold ? undefined : wait('ClientsMoving', 'telling how clients are to be served');
