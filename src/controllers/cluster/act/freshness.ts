import type { MemberStep } from '../../../core/cluster/plan/step.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { Failure } from '../../../std/failure.ts';
import type { ControllerContext } from '../../shared/context.ts';

/** The maximum age of an observation for a disruptive step: another member may have failed since. */
const freshMillis = 5_000;

/** Steps that can cost quorum or data if another member has failed since the observation. */
const isDisruptive: Readonly<Record<MemberStep['kind'], boolean>> = {
  'record-bootstrap': false,
  'record-formation': false,
  'release-member-pod': false,
  'adopt-member-pod': false,
  'issue-certificates': false,
  'stage-certificates': false,
  'drop-secrets': false,
  'start-member-pod': false,
  'forbid-rebootstrap': false,
  'stop-member-pod': true,
  'delete-member-pod': true,
  'delete-volume': true,
  'change-image': true,
  'make-backup': false,
  'relabel-member-pod': false,
  'transfer-leadership': true,
  'update-peer-url': true,
  'enable-downgrade': false,
  'cancel-downgrade': false,
  'add-member': true,
  'promote-member': true,
  'remove-member': true,
};

/** The result of ensuring the objects around members. */
export interface Upkeep {
  /** A failure that blocks no step. */
  readonly aside?: Failure | undefined;
  /** Why the owner or the annotations of a PVC could not be written. */
  readonly ofClaims?: Failure | undefined;
}

/** The answers of members are too old for a disruptive step, because upkeep or reads since took too long. */
export class StaleObservation extends Failure {
  readonly upkeep: Upkeep;

  constructor(upkeep: Upkeep) {
    super('conflict', 'observation too old for this step: the next pass observes the cluster again');
    this.upkeep = upkeep;
  }
}

export const monotonicOf = ({ monotonic = systemClock.monotonic }: Pick<ControllerContext, 'monotonic'>): number =>
  monotonic();

/** `observedAt`: the time when members had answered, on the monotonic clock. */
export function confirmFresh(
  step: MemberStep,
  { observedAt, upkeep }: { readonly observedAt: number; readonly upkeep: Upkeep },
  context: Pick<ControllerContext, 'monotonic'>,
): void {
  if (isDisruptive[step.kind] && monotonicOf(context) - observedAt > freshMillis) throw new StaleObservation(upkeep);
}

/**
 * Keeps upkeep that took too long. The next pass reuses it and goes from its observation directly to the step. So a
 * slow API server delays a disruptive step by one pass only.
 */
export class DoneUpkeep {
  readonly #done = new Map<string, Upkeep>();

  /** Each pass takes the entry at its start, so a deleted cluster leaves none. */
  take(key: string): Upkeep | undefined {
    const upkeep = this.#done.get(key);
    this.#done.delete(key);
    return upkeep;
  }

  /** Keeps the entry for the next pass if this pass did not observe. */
  putBack(key: string, upkeep: Upkeep | undefined): void {
    if (upkeep !== undefined) this.#done.set(key, upkeep);
  }

  note(key: string, failure: Failure | undefined): void {
    if (failure instanceof StaleObservation) this.#done.set(key, failure.upkeep);
  }
}
