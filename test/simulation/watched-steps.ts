import type { SimulatedObjects } from './simulated-objects.ts';

type Writer = SimulatedObjects['writer'];

/** The steps of simulated passes. A write outside a step is a violation. */
export class WatchedSteps {
  /** The kinds of the steps that were begun. */
  readonly kinds: string[] = [];
  readonly #violations: string[];
  #isInStep = false;

  constructor(violations: string[]) {
    this.#violations = violations;
  }

  endPass(): void {
    this.#isInStep = false;
  }

  /** The log of the controller, which names each step before it is taken. */
  readonly log = (_: unknown, message: string, { step }: { readonly step?: string } = {}): void => {
    if (message !== 'taking step') return;
    this.#isInStep = true;
    this.kinds.push(step ?? '');
  };

  /** No step is needed to write a status, or to delete a store proxy whose restore is over. */
  watched({ create, patch, remove }: Writer): Writer {
    return {
      create: (kind, object) => {
        this.#note(`creation of ${kind.plural} ${object.metadata.name}`);
        return create(kind, object);
      },
      patch: (kind, at, change) => {
        if (change.subresource !== 'status') this.#note(`patch of ${kind.plural} ${at.name}`);
        return patch(kind, at, change);
      },
      remove: (kind, at, removal) => {
        if (!at.name.includes('-store-proxy-')) this.#note(`deletion of ${kind.plural} ${at.name}`);
        return remove(kind, at, removal);
      },
    };
  }

  #note(write: string): void {
    if (!this.#isInStep) this.#violations.push(`a write without a step: ${write}`);
  }
}
