import { Failure } from '../../src/std/failure.ts';

/** The address ranges of the sandbox. They are not visible outside of it. */
export const layout = {
  gateway: '10.244.0.1',
  gatewayWithPrefix: '10.244.0.1/16',
  services: '10.96.0.0/16',
  dns: '10.96.0.10',
} as const;

/** Allocates pod addresses in turn: a released address is reused last, since clients may still have it cached. */
export class Addresses {
  readonly #taken = new Set<string>();
  #last = 0;

  /** Allocates an address of a node's range. Nodes are numbered from 1. */
  allocate(node: number): string {
    for (let tried = 0; tried < 253; tried++) {
      this.#last = (this.#last + 1) % 253;
      const address = `10.244.${node}.${this.#last + 2}`;
      if (this.#taken.has(address)) continue;
      this.#taken.add(address);
      return address;
    }
    throw new Failure('rejected', `node ${node} has no free address left for a pod`);
  }

  /** Calls `make` with a new address, and releases the address if that fails. */
  async withAddress<T>(node: number, make: (address: string) => Promise<T>): Promise<T> {
    const address = this.allocate(node);
    try {
      return await make(address);
    } catch (thrown) {
      this.release(address);
      throw thrown;
    }
  }

  release(address: string): void {
    this.#taken.delete(address);
  }
}

export const nodeAddress = (node: number): string => `10.96.255.${node}`;
