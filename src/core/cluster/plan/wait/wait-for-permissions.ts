import { type Rule, waitForUser } from '../step.ts';

/** Objects that the operator may not read may exist. Nothing is changed until the permission is granted. */
export const waitForPermissions: Rule = ({ missingPermission }) =>
  missingPermission === undefined ? undefined : waitForUser('MissingRights', missingPermission);
