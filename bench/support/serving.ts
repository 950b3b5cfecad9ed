import { setTimeout as sleep } from 'node:timers/promises';
import type { EtcdConnection } from '../../src/etcd/client.ts';
import { EtcdConnections } from '../../src/etcd/connections.ts';
import type { Pod, Stored } from '../../src/kube/object.ts';
import { pods } from '../../src/kube/resource.ts';
import type { Bed } from './bed.ts';

const deadlineMillis = 180_000;
/** The poll interval: short against the measured times, and long enough to cost little CPU. */
const pollMillis = 25;

/** Observes members by etcd calls, over connections that are kept between polls. */
export class MemberObserver {
  readonly #bed: Pick<Bed, 'client' | 'namespace' | 'api'>;
  readonly #etcd = new EtcdConnections();

  constructor(bed: Pick<Bed, 'client' | 'namespace' | 'api'>) {
    this.#bed = bed;
  }

  /** Waits until each of so many voters answers a linearizable read. */
  async serving(cluster: string, size: number): Promise<void> {
    await this.#until(`${cluster} serves with ${size} members`, async () => {
      const memberPods = await this.podsOf(cluster);
      const serving = await Promise.all(memberPods.map((pod) => this.#serves(pod, size)));
      return serving.filter(Boolean).length === size;
    });
  }

  /** Waits until a member serves again from a new pod. */
  async returned(cluster: string, before: Stored<Pod>, size: number): Promise<void> {
    const { name, uid } = before.metadata;
    await this.#until(`${name} is back`, async () => {
      const pod = (await this.podsOf(cluster)).find(({ metadata }) => metadata.name === name);
      return pod !== undefined && pod.metadata.uid !== uid && (await this.#serves(pod, size));
    });
  }

  /** The pod of a follower: deleting the leader would add an election. */
  follower(cluster: string): Promise<Stored<Pod>> {
    return this.#podThat('follows', cluster);
  }

  leader(cluster: string): Promise<Stored<Pod>> {
    return this.#podThat('leads', cluster);
  }

  async transferLeadership(from: Stored<Pod>, to: Stored<Pod>): Promise<void> {
    const { memberId } = await this.#etcd.to(endpointOf(to)).status();
    await this.#etcd.to(endpointOf(from)).moveLeader(memberId);
  }

  /** Waits until a member runs a version and answers a linearizable read. */
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

  async #podThat(does: 'leads' | 'follows', cluster: string): Promise<Stored<Pod>> {
    for (const pod of await this.podsOf(cluster)) {
      const { leader, memberId } = await this.#etcd.to(endpointOf(pod)).status();
      if ((leader === memberId) === (does === 'leads')) return pod;
    }
    throw new Error(`no member of ${cluster} ${does}`);
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
      if (performance.now() - began > deadlineMillis) throw new Error(`time-out after three minutes: ${what}`);
      await sleep(pollMillis);
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
 * Measures both in turn, so that both run on the same machine state. The first pair does not count: it pulls images and
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
