import { setTimeout as sleep } from 'node:timers/promises';
import { pods } from '../src/kube/resource.ts';
import { writesOf } from '../test/support/writes.ts';
import { type Bed, runBenchmarks } from './support/bed.ts';
import { cleanUp, resource, settled } from './support/clusters.ts';
import type { Figure } from './support/figures.ts';
import { asList, freshName } from './support/manifests.ts';

/** How long ten settled clusters are observed. The operator reconciles each of them every ten seconds. */
const watchedSeconds = 60;

/** Counts the operator's writes for one new cluster and for ten settled clusters, and measures its memory. */
export async function whatTheOperatorCosts(bed: Bed): Promise<readonly Figure[]> {
  const forOne = await writesForOne(bed);
  const names = Array.from({ length: 10 }, freshName);
  const documents = names.map((name) => resource(bed, name));
  using memory = new MemoryOfOperator(await addressOfOperator(bed));
  await bed.kubectl('apply -f -', { input: asList(documents) });
  for (const name of names) await settled(bed, name, 3);
  const before = writes(bed).length;
  await sleep(watchedSeconds * 1000); // there is no event to wait for: nothing must happen
  const whileSettled = writes(bed).length - before;
  await cleanUp(bed, names, documents);
  return [
    { question: 'writes for a new cluster of three', amount: forOne, unit: '', limit: 15 },
    { question: `writes for ten settled clusters in ${watchedSeconds} s`, amount: whileSettled, unit: '', limit: 0 },
    { question: 'highest memory (RSS) with ten clusters', amount: memory.highest(), unit: 'MiB', limit: 150 },
  ];
}

const writes = ({ layout, namespace }: Bed): readonly string[] => writesOf(layout.auditLog, namespace);

async function writesForOne(bed: Bed): Promise<number> {
  const name = freshName();
  const before = writes(bed).length;
  await bed.kubectl('apply -f -', { input: resource(bed, name) });
  await settled(bed, name, 3);
  const count = writes(bed).length - before;
  await cleanUp(bed, [name], [resource(bed, name)]);
  return count;
}

async function addressOfOperator({ client, namespace }: Bed): Promise<string> {
  const { items } = await client.list(pods, { namespace, labelSelector: 'name=etcd-operator' });
  return `http://${items[0]?.status?.podIP}:8080/metrics`;
}

/** Scrapes the operator's metrics once a second, as Prometheus does. */
class MemoryOfOperator {
  readonly #url: string;
  readonly #seen: number[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(url: string) {
    this.#url = url;
    this.#timer = setInterval(() => void this.#scrape().catch(() => undefined), 1000);
  }

  /** In MiB; NaN if nothing could be read. */
  highest(): number {
    return this.#seen.length === 0 ? Number.NaN : Math.round(Math.max(...this.#seen) / 2 ** 20);
  }

  async #scrape(): Promise<void> {
    const text = await (await fetch(this.#url)).text();
    const [, bytes] = /^process_resident_memory_bytes (\S+)$/m.exec(text) ?? [];
    if (bytes !== undefined) this.#seen.push(Number(bytes));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

if (import.meta.main) await runBenchmarks([whatTheOperatorCosts]);
