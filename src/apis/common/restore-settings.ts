import { z } from 'zod';
import { withRules } from './schema/rule.ts';

const largestBump = 1_000_000_000_000;

/** The target of a restore is immutable: the restore may be half done. */
export const immutableCluster = {
  cel: 'self == oldSelf',
  message: 'cannot be changed: create another EtcdRestore',
} as const;

/** The field is the same in both restore APIs. */
export const revisionBump = withRules(z.int(), {
  cel: `self >= 0 && self <= ${largestBump}`,
  message: `must be from 0 to ${largestBump}`,
  holds: (by) => by >= 0 && by <= largestBump,
}).describe(
  'revisionBump is added to all revisions, and older history counts as compacted, so that clients with newer revisions ' +
    'notice the restore: 1000000000 is enough. Needs etcd 3.5.10 or newer. With 0, the default, revisions go back.',
);
