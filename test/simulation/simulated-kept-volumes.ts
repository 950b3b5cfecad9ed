import type { CarrierName, KeptVolume } from './words.ts';

interface KeptDisk {
  readonly member: CarrierName;
  readonly removedAt: number;
}

/** The volumes of members that were removed, and a clock. */
export class SimulatedKeptVolumes {
  graceSeconds = 3600;
  now = Date.parse('2026-01-01T00:00:00Z');
  /** Under the uids of their claims. */
  readonly #kept = new Map<string, KeptDisk>();
  #keptSoFar = 0;

  get members(): readonly CarrierName[] {
    return [...this.#kept.values()].map(({ member }) => member);
  }

  keep(member: CarrierName): void {
    this.#kept.set(`kept-${this.#keptSoFar++}`, { member, removedAt: this.now });
  }

  /** What one pass sees of them. */
  seen(): readonly KeptVolume[] {
    return [...this.#kept].map(([uid, { member, removedAt }]) => ({
      ...{ uid, claim: member, member, removedAt, isMounted: false, isLeaving: false },
      watched: { millis: this.now - removedAt, looks: 9 },
    }));
  }

  delete(uid: string, isWhole: boolean): void {
    const kept = this.#kept.get(uid);
    if (kept === undefined) throw new Error(`${uid} is no volume of a removed member`);
    if (this.now - kept.removedAt < this.graceSeconds * 1000) throw new Error(`${uid} is deleted too early`);
    if (!isWhole) throw new Error(`${uid} is deleted while the cluster is not whole`);
    this.#kept.delete(uid);
  }
}
