import { type Rule, wait } from './step.ts';

/** While a cluster is paused a person works on it: whatever we see, we touch nothing. */
export const honourPause: Rule = ({ intent }) =>
  intent.paused ? wait('Paused', 'spec.paused is set; clear it to let the operator go on') : undefined;
