import { type Rule, wait } from './step.ts';

/** While a cluster is paused a person works on it, or a restore does: whatever we see, we touch nothing. */
export const honourPause: Rule = ({ intent }) => {
  if (intent.heldBy !== undefined) return wait('Restoring', heldBy(intent.heldBy));
  return intent.paused ? wait('Paused', 'spec.paused is set; clear it to let the operator go on') : undefined;
};

const heldBy = (uid: string): string =>
  `standing aside for the restore with uid ${uid}; if there is none, remove the annotation that holds its uid`;
