import type { KeptVolume, MemberName } from './types.ts';

interface SimulatedVolume {
  readonly member: MemberName;
  readonly removedAt: number;
}

/** Simulates volumes of removed members, with a clock. */
export class SimulatedKeptVolumes {
  graceSeconds = 3600;
  now = Date.parse('2026-01-01T00:00:00Z');
  /** Kept volumes by UID of their PVC. */
  readonly #kept = new Map<string, SimulatedVolume>();
  #nextUid = 0;

  get members(): readonly MemberName[] {
    return [...this.#kept.values()].map(({ member }) => member);
  }

  keep(member: MemberName): void {
    this.#kept.set(`kept-${this.#nextUid++}`, { member, removedAt: this.now });
  }

  /** The kept volumes as one pass observes them. */
  seen(): readonly KeptVolume[] {
    return [...this.#kept].map(([uid, { member, removedAt }]) => ({
      ...{ uid, claim: member, member, removedAt, isMounted: false, isLeaving: false },
      watched: { millis: this.now - removedAt, observations: 9 },
    }));
  }

  delete(uid: string, isWhole: boolean): void {
    const kept = this.#kept.get(uid);
    if (kept === undefined) throw new Error(`${uid} is not a volume of a removed member`);
    if (this.now - kept.removedAt < this.graceSeconds * 1000) throw new Error(`${uid} is deleted too early`);
    if (!isWhole) throw new Error(`${uid} is deleted while a member is missing or unhealthy`);
    this.#kept.delete(uid);
  }
}
