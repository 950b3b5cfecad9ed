import { Failure } from '../../std/failure.ts';

/** The lab's own ranges. Nothing outside ever sees them. */
export const layout = {
  gateway: '10.244.0.1',
  gatewayWithPrefix: '10.244.0.1/16',
  services: '10.96.0.0/16',
  dns: '10.96.0.10',
} as const;

/** Addresses of pods: the next free one, not the one that was given back last, which others may remember. */
export class Addresses {
  readonly #taken = new Set<string>();
  #last = 0;

  /** One of the node's range; nodes are numbered from 1. */
  take(node: number): string {
    for (let tried = 0; tried < 253; tried++) {
      this.#last = (this.#last + 1) % 253;
      const address = `10.244.${node}.${this.#last + 2}`;
      if (this.#taken.has(address)) continue;
      this.#taken.add(address);
      return address;
    }
    throw new Failure('rejected', `node ${node} has no free address left for a pod`);
  }

  /** What is made with an address of the node's; where that fails, the address is free again. */
  async lend<T>(node: number, make: (address: string) => Promise<T>): Promise<T> {
    const address = this.take(node);
    try {
      return await make(address);
    } catch (thrown) {
      this.giveBack(address);
      throw thrown;
    }
  }

  giveBack(address: string): void {
    this.#taken.delete(address);
  }
}

export const nodeAddress = (node: number): string => `10.96.255.${node}`;
