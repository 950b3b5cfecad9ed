import type { Step } from '../../core/plan/cluster/step.ts';
import { systemClock } from '../../runtime/clock.ts';
import { Failure } from '../../std/failure.ts';
import type { Tools } from './sources.ts';

/** A disruptive step is not taken on an older observation: another member may have failed since. */
const freshMillis = 5_000;

/** Steps that can cost a majority, or data, if another member has failed since the observation. */
const isDisruptive: Readonly<Record<Step['kind'], boolean>> = {
  'remember-bootstrap': false,
  'remember-formation': false,
  'release-carrier': false,
  'adopt-carrier': false,
  'issue-certificates': false,
  'stage-certificates': false,
  'drop-secrets': false,
  'start-carrier': false,
  'seal-carrier': false,
  'stop-carrier': true,
  'discard-carrier': true,
  'delete-volume': true,
  'change-image': true,
  'make-backup': false,
  'relabel-carrier': false,
  'move-leader': true,
  'update-peer-url': true,
  'enable-downgrade': false,
  'cancel-downgrade': false,
  'add-member': true,
  'promote-member': true,
  'remove-member': true,
};

/** What came of keeping the objects around members. */
export interface Upkeep {
  /** What could not be kept, and holds up no step. */
  readonly aside?: Failure | undefined;
  /** Why the owner or the marks of a PVC could not be written. */
  readonly ofClaims?: Failure | undefined;
}

/** The upkeep took so long that what was observed before it is no ground for a disruptive step. */
export class StaleObservation extends Failure {
  readonly upkeep: Upkeep;

  constructor(upkeep: Upkeep) {
    super('conflict', 'the observation is too old for this step: the cluster is observed again');
    this.upkeep = upkeep;
  }
}

export const monotonicOf = ({ monotonic = systemClock.monotonic }: Pick<Tools, 'monotonic'>): number => monotonic();

/** `observedAt`: when members were heard, by the monotonic clock. */
export function confirmFresh(
  step: Step,
  { observedAt, upkeep }: { readonly observedAt: number; readonly upkeep: Upkeep },
  tools: Pick<Tools, 'monotonic'>,
): void {
  if (isDisruptive[step.kind] && monotonicOf(tools) - observedAt > freshMillis) throw new StaleObservation(upkeep);
}

/**
 * Upkeep that took too long for the step after it. The next pass takes it for its own and goes from the observation straight to
 * its step. So a slow API server delays a disruptive step by one pass, and cannot put it off for ever.
 */
export class DoneUpkeep {
  readonly #done = new Map<string, Upkeep>();

  /** Each pass takes it at its beginning: of a cluster that is gone, none is kept. */
  take(key: string): Upkeep | undefined {
    const upkeep = this.#done.get(key);
    this.#done.delete(key);
    return upkeep;
  }

  /** For the next pass, if this one did not get to observe. */
  putBack(key: string, upkeep: Upkeep | undefined): void {
    if (upkeep !== undefined) this.#done.set(key, upkeep);
  }

  note(key: string, failure: Failure | undefined): void {
    if (failure instanceof StaleObservation) this.#done.set(key, failure.upkeep);
  }
}
