import { z } from 'zod';
import { ruled } from './rule.ts';

const largestBump = 1_000_000_000_000;

/** Half of it may have been done to the one it names. */
export const sameCluster = { cel: 'self == oldSelf', says: 'cannot be changed: create another EtcdRestore' } as const;

/** The same in every API of restores. */
export const revisionBump = ruled(z.int(), {
  cel: `self >= 0 && self <= ${largestBump}`,
  says: `must be from 0 to ${largestBump}`,
  holds: (by) => by >= 0 && by <= largestBump,
}).describe(
  'By how much revisions leap, and history before that counts as compacted, so that clients which have seen newer ' +
    'revisions notice: 1000000000 is far enough. From etcd 3.5.10 on; 0 or left out means that revisions go back.',
);
