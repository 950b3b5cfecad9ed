import { type Rule, wait } from '../step.ts';

/** A user or a restore works on a paused cluster, so the operator changes nothing. */
export const honourPause: Rule = ({ intent }) => {
  if (intent.heldBy !== undefined) return wait('Restoring', heldBy(intent.heldBy));
  return intent.paused ? wait('Paused', 'spec.paused is set; clear it to let the operator go on') : undefined;
};

const heldBy = (uid: string): string =>
  `paused for the EtcdRestore with UID ${uid}; if it no longer exists, remove the annotation with this UID`;
