import { agentMutants } from './agents.ts';
import { backupMutants } from './backups.ts';
import { leadershipMutants } from './leadership.ts';
import { membershipMutants } from './membership.ts';
import type { Mutant } from './mutant.ts';
import { objectMutants } from './objects.ts';
import { restoreMutants } from './restores.ts';
import { rolloutMutants } from './rollouts.ts';
import { ruleMutants } from './rules.ts';
import { stepMutants } from './steps.ts';
import { upkeepMutants } from './upkeep.ts';
import { volumeMutants } from './volumes.ts';

/** All planted bugs. */
export const mutants: readonly Mutant[] = [
  ...ruleMutants,
  ...membershipMutants,
  ...rolloutMutants,
  ...volumeMutants,
  ...stepMutants,
  ...objectMutants,
  ...upkeepMutants,
  ...leadershipMutants,
  ...restoreMutants,
  ...backupMutants,
  ...agentMutants,
];
