import { setTimeout as sleep } from 'node:timers/promises';
import type { EtcdConnection } from '../../src/etcd/client.ts';
import { EtcdConnections } from '../../src/etcd/connections.ts';
import type { Pod, Stored } from '../../src/kube/object.ts';
import { pods } from '../../src/kube/resource.ts';
import type { Bed } from './bed.ts';

const deadlineMillis = 180_000;
/** Short against what is measured, and long enough to leave the processors to those who are measured. */
const betweenLooksMillis = 25;

/** Etcd's own word, over connections that are kept from look to look. */
export class Witness {
  readonly #bed: Pick<Bed, 'client' | 'namespace' | 'api'>;
  readonly #etcd = new EtcdConnections();

  constructor(bed: Pick<Bed, 'client' | 'namespace' | 'api'>) {
    this.#bed = bed;
  }

  /** Waits until each of so many voters answers by itself with a majority behind it. */
  async serving(cluster: string, size: number): Promise<void> {
    await this.#until(`${cluster} serves with ${size} members`, async () => {
      const bodies = await this.podsOf(cluster);
      const serving = await Promise.all(bodies.map((pod) => this.#serves(pod, size)));
      return serving.filter(Boolean).length === size;
    });
  }

  /** Waits until a member serves again from another pod than this one. */
  async returned(cluster: string, before: Stored<Pod>, size: number): Promise<void> {
    const { name, uid } = before.metadata;
    await this.#until(`${name} is back`, async () => {
      const pod = (await this.podsOf(cluster)).find(({ metadata }) => metadata.name === name);
      return pod !== undefined && pod.metadata.uid !== uid && (await this.#serves(pod, size));
    });
  }

  /** A pod whose member follows: the leader's end would also cost an election. */
  follower(cluster: string): Promise<Stored<Pod>> {
    return this.#oneThat('follows', cluster);
  }

  leader(cluster: string): Promise<Stored<Pod>> {
    return this.#oneThat('leads', cluster);
  }

  async moveLead(from: Stored<Pod>, to: Stored<Pod>): Promise<void> {
    const { memberId } = await this.#etcd.to(endpointOf(to)).status();
    await this.#etcd.to(endpointOf(from)).moveLeader(memberId);
  }

  /** Waits until a member runs a version, and answers with a majority behind it. */
  async runs(cluster: string, name: string, version: string): Promise<void> {
    await this.#until(`${name} runs ${version}`, async () => {
      const pod = (await this.podsOf(cluster)).find(({ metadata }) => metadata.name === name);
      if (pod === undefined || !(await this.#serves(pod, 3))) return false;
      const status = await this.#etcd
        .to(endpointOf(pod))
        .status({ timeoutMillis: 500 })
        .catch(() => undefined);
      return status?.version === version;
    });
  }

  async connectionsTo(cluster: string): Promise<readonly EtcdConnection[]> {
    return (await this.podsOf(cluster)).map((pod) => this.#etcd.to(endpointOf(pod)));
  }

  async podsOf(cluster: string): Promise<readonly Stored<Pod>[]> {
    const { namespace, client, api } = this.#bed;
    return (await client.list(pods, { namespace, labelSelector: `${api.label}=${cluster}` })).items;
  }

  [Symbol.dispose](): void {
    this.#etcd.close();
  }

  async #oneThat(does: 'leads' | 'follows', cluster: string): Promise<Stored<Pod>> {
    for (const pod of await this.podsOf(cluster)) {
      const { leader, memberId } = await this.#etcd.to(endpointOf(pod)).status();
      if ((leader === memberId) === (does === 'leads')) return pod;
    }
    throw new Error(`nobody in ${cluster} ${does}`);
  }

  async #serves(pod: Stored<Pod>, size: number): Promise<boolean> {
    if (pod.status?.podIP === undefined || pod.metadata.deletionTimestamp !== undefined) return false;
    try {
      const members = await this.#etcd.to(endpointOf(pod)).memberList({ timeoutMillis: 500 });
      return members.filter(({ isLearner }) => !isLearner).length === size;
    } catch {
      return false;
    }
  }

  async #until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const began = performance.now();
    while (!(await isSo())) {
      if (performance.now() - began > deadlineMillis) throw new Error(`not within three minutes: ${what}`);
      await sleep(betweenLooksMillis);
    }
  }
}

export const endpointOf = ({ status }: Stored<Pod>): { readonly url: string } => ({
  url: `http://${status?.podIP}:2379`,
});

export async function secondsOf(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

export interface Pair {
  readonly ours: () => Promise<number>;
  readonly byHand: () => Promise<number>;
}

/**
 * Measures both ways in turn, so that both meet the same machine. The first pair does not count: it pulls images and
 * fills caches.
 */
export async function inTurn(pairs: number, { ours, byHand }: Pair): Promise<{ ours: number[]; byHand: number[] }> {
  const taken = { ours: [] as number[], byHand: [] as number[] };
  for (let i = 0; i <= pairs; i++) {
    const [one, other] = [await ours(), await byHand()];
    if (i === 0) continue;
    taken.ours.push(one);
    taken.byHand.push(other);
  }
  return taken;
}
