import { Choices } from './seeded.ts';

/** The kinds of faults, and what they need. */
const faultKinds = {
  'delete-pod': { losesData: false, needs: 'pods' },
  'kill-member': { losesData: false, needs: 'pods' },
  'freeze-member': { losesData: false, needs: 'pods' },
  'slow-member': { losesData: false, needs: 'pods' },
  'delete-pvc': { losesData: true, needs: 'pods' },
  'empty-volume': { losesData: true, needs: 'pods' },
  'kill-operator': { losesData: false, needs: 'pods' },
  'double-operator': { losesData: false, needs: 'pods' },
  'suspend-operator': { losesData: false, needs: 'pods' },
  'stop-node': { losesData: false, needs: 'nodes' },
  'cut-nodes': { losesData: false, needs: 'network' },
} as const satisfies Record<string, { losesData: boolean; needs: Need }>;

/** What a fault acts on: every place has pods, our places have nodes, our test cluster has a network to cut. */
export type Need = 'pods' | 'nodes' | 'network';

export type FaultKind = keyof typeof faultKinds;
export const allFaults = Object.keys(faultKinds) as readonly FaultKind[];

/** What is asked of the operator while faults happen. */
export type ChangeKind =
  | 'create'
  | 'none'
  | 'scale-up'
  | 'scale-down'
  | 'roll'
  | 'upgrade'
  | 'rotate-ca'
  | 'back-up'
  | 'restore';

export interface PlannedFault {
  readonly kind: FaultKind;
  /** The time after the begin of the episode. */
  readonly afterMillis: number;
  /** The length of a fault that ends. */
  readonly forMillis: number;
  /** Selects the member, node or pair of nodes among those that exist at that moment. */
  readonly target: number;
}

/** A change with some faults. The next episode begins when the cluster has healed. */
export interface Episode {
  readonly change: ChangeKind;
  readonly faults: readonly PlannedFault[];
}

export interface PlanSettings {
  readonly seed: number;
  readonly has: readonly Need[];
  /** Only these kinds, for a short run. */
  readonly only?: readonly FaultKind[];
  /** Changes after the creation, in an order that is repeated. */
  readonly changes: readonly ChangeKind[];
}

const most = { faults: 3, afterMillis: 6_000 } as const;
const length = { least: 2_000, most: 12_000 } as const;

/**
 * An endless plan. Every kind of fault comes once before any comes twice. At most one fault of an episode loses data: two lost
 * members of three have no quorum, and no operator could bring it back. During the creation no data is lost.
 */
export function* planOf({ seed, has, changes, only = allFaults }: PlanSettings): Generator<Episode, never> {
  const choices = new Choices(seed);
  const faults = deckOf(
    only.filter((kind) => has.includes(faultKinds[kind].needs)),
    choices,
  );
  yield { change: 'create', faults: faultsOf(faults.next(1, isHarmless), choices) };
  for (let turn = 0; ; turn++) {
    const change = changes.length === 0 ? 'none' : (changes[turn % changes.length] ?? 'none');
    yield { change, faults: faultsOf(faults.next(choices.whole(1, most.faults)), choices) };
  }
}

const isHarmless = (kind: FaultKind): boolean => !faultKinds[kind].losesData;

const faultsOf = (kinds: readonly FaultKind[], choices: Choices): readonly PlannedFault[] =>
  kinds.map((kind) => ({
    kind,
    afterMillis: choices.whole(0, most.afterMillis),
    forMillis: choices.whole(length.least, length.most),
    target: choices.whole(0, 1_000),
  }));

/** Deals kinds from a shuffled deck. A kind that may not be dealt now stays on top for the next episode. */
function deckOf(kinds: readonly FaultKind[], choices: Choices) {
  const deck: FaultKind[] = [];
  const draw = (allowed: (kind: FaultKind) => boolean): FaultKind | undefined => {
    if (!deck.some(allowed)) deck.push(...choices.shuffled(kinds));
    const found = deck.findIndex(allowed);
    return found < 0 ? undefined : deck.splice(found, 1)[0];
  };
  return {
    next: (count: number, allowed: (kind: FaultKind) => boolean = () => true): readonly FaultKind[] => {
      const dealt: FaultKind[] = [];
      while (dealt.length < count) {
        const isFree = (kind: FaultKind): boolean => allowed(kind) && (isHarmless(kind) || dealt.every(isHarmless));
        const kind = draw((each) => isFree(each) && !dealt.includes(each));
        if (kind === undefined) break;
        dealt.push(kind);
      }
      return dealt;
    },
  };
}
