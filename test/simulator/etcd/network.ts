import type { SimulatedEtcd } from './process.ts';

/** What can talk to what, and the addresses of pods. A place is a node, or `control-plane`. */
export class Network {
  readonly #processes = new Set<SimulatedEtcd>();
  readonly #cutPlaces = new Set<string>();
  readonly #cutPairs = new Set<string>();
  readonly #healedAt = new Map<string, number>();
  readonly #now: () => number;
  /** Called when connections have changed. */
  onChange: () => void = () => undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  get processes(): readonly SimulatedEtcd[] {
    return [...this.#processes];
  }

  add(process: SimulatedEtcd): void {
    this.#processes.add(process);
  }

  remove(process: SimulatedEtcd): void {
    this.#processes.delete(process);
  }

  /** The running member with this host name in the DNS. */
  byHost(host: string): SimulatedEtcd | undefined {
    return this.processes.find((each) => each.isRunning && each.host === host);
  }

  byAddress(address: string): SimulatedEtcd | undefined {
    return this.processes.find((each) => each.address === address);
  }

  isCut(place: string): boolean {
    return this.#cutPlaces.has(place);
  }

  canTalk(a: string, b: string): boolean {
    if (a === b) return true;
    return !this.#cutPlaces.has(a) && !this.#cutPlaces.has(b) && !this.#cutPairs.has(pairOf(a, b));
  }

  /** Since when two places have been connected. */
  connectedSince(a: string, b: string): number {
    return Math.max(this.#healedAt.get(a) ?? 0, this.#healedAt.get(b) ?? 0, this.#healedAt.get(pairOf(a, b)) ?? 0);
  }

  cut(place: string): void {
    this.#cutPlaces.add(place);
    this.onChange();
  }

  cutBetween(a: string, b: string): void {
    this.#cutPairs.add(pairOf(a, b));
    this.onChange();
  }

  heal(place: string): void {
    if (this.#cutPlaces.delete(place)) this.#healedAt.set(place, this.#now());
    this.onChange();
  }

  healBetween(a: string, b: string): void {
    if (this.#cutPairs.delete(pairOf(a, b))) this.#healedAt.set(pairOf(a, b), this.#now());
    this.onChange();
  }

  healAll(): void {
    for (const place of [...this.#cutPlaces]) this.heal(place);
    for (const pair of [...this.#cutPairs]) {
      const [a = '', b = ''] = pair.split('|');
      this.healBetween(a, b);
    }
  }
}

const pairOf = (a: string, b: string): string => (a < b ? `${a}|${b}` : `${b}|${a}`);
