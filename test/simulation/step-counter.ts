import { Killed } from './simulated-objects.ts';

/** Counts the operator's writes to the API server and etcd, and can kill the operator after each. */
export class StepCounter {
  steps = 0;
  isDead = false;
  /** True if the operator is killed after each step. */
  readonly #diesAfterEachStep: boolean;
  /** Called directly before and after each step. */
  readonly #onStep: (when: 'before' | 'after') => void;

  constructor(diesAfterEachStep = false, onStep: (when: 'before' | 'after') => void = () => undefined) {
    this.#diesAfterEachStep = diesAfterEachStep;
    this.#onStep = onStep;
  }

  readonly run = async (step: () => unknown): Promise<void> => {
    if (this.isDead) throw new Killed('in an earlier step');
    this.steps++;
    this.#onStep('before');
    await step();
    this.#onStep('after');
    if (this.#diesAfterEachStep) this.#die();
  };

  #die(): never {
    this.isDead = true;
    throw new Killed('after a step');
  }
}
