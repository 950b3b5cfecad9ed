import { setTimeout as sleep } from 'node:timers/promises';
import { secondsBetweenLooks } from '../../src/controllers/cluster/settled.ts';
import type { Figure } from '../support/figures.ts';
import { amount, print } from './create.ts';
import { newVersion } from './fleet.ts';
import { type Bench, byKind, percentile, timed, untilQuiet } from './measure.ts';
import { limitOfDeployment, type Operator } from './operator.ts';

/** The looks a second at a thousand clusters, for which the limit of CPU is given. */
const looksOfThousand = 1000 / secondsBetweenLooks(1000);
/** Two calls, and a margin for jitter and for every twentieth look, which asks all members. */
const callsOfALook = 2.8;

/** Memory, CPU and calls of an operator whose clusters are settled. `empty` is its memory without clusters, in MiB. */
export async function atRest(bench: Bench, operator: Operator, empty: number): Promise<readonly Figure[]> {
  const { audit, fleet, idleSeconds, clusters } = bench;
  await untilQuiet(bench);
  await operator.lag();
  const [writes, calls] = [audit.writes().length, fleet.etcd.calls];
  const { cpuSeconds, seconds } = await timed(operator, () => sleep(idleSeconds * 1000));
  const made = audit.writes().slice(writes);
  if (made.length > 0) print(`writes while idle: ${JSON.stringify(byKind(made))}`);
  const settled = operator.memory('VmRSS');
  const looks = clusters / secondsBetweenLooks(clusters);
  return [
    amount('memory (RSS), settled', settled, { unit: 'MiB', limit: 220 }),
    amount('memory (RSS), peak', operator.memory('VmHWM'), { unit: 'MiB', limit: limitOfDeployment() }),
    amount('– for each cluster', ((settled - empty) * 1024) / clusters, { unit: 'KiB', limit: 120 }),
    amount('idle: CPU of one core', (cpuSeconds / seconds) * 100, {
      unit: '%',
      limit: Math.max((5 * looks) / looksOfThousand, 1),
    }),
    amount('idle: calls of etcd a second', (fleet.etcd.calls - calls) / seconds, {
      unit: '',
      limit: looks * callsOfALook,
    }),
    amount('idle: connections to etcd', fleet.etcd.connections, { unit: '', limit: 64 }),
    amount('idle: writes a minute', (made.length * 60) / seconds, { unit: '', limit: 0 }),
    amount('idle: lag of the event loop, p99', await operator.lag(), { unit: 'ms', limit: 50 }),
  ];
}

const mostProbes = 100;

/** From a change of a spec until the first write for that cluster, by the clock of the API server. */
export async function untilFirstWrite(bench: Bench, keys: readonly string[]): Promise<readonly Figure[]> {
  const { fleet, audit } = bench;
  const probed = keys.slice(-Math.min(mostProbes, Math.ceil(keys.length / 4)));
  for (const key of probed) {
    await fleet.patch([key], { version: newVersion });
    await fleet.until('upgraded', [key], (each) => fleet.isRunning(each, { version: newVersion }));
  }
  const writes = audit.writes();
  const patches = audit.ofBench().filter(({ resource, verb }) => resource === 'etcdclusters' && verb === 'patch');
  const delays = probed.map((key) => {
    const [namespace, name = ''] = key.split('/');
    const isOf = (each: { readonly namespace: string; readonly name: string }): boolean =>
      each.namespace === namespace && (each.name === name || each.name.startsWith(`${name}-`));
    const patched = patches.findLast(isOf)?.receivedAt ?? Number.NaN;
    return (writes.find((write) => isOf(write) && write.receivedAt > patched)?.receivedAt ?? Number.NaN) - patched;
  });
  return [
    amount('a changed spec: first write, p50', percentile(delays, 0.5), { unit: 'ms', limit: 50 }),
    amount('a changed spec: first write, p99', percentile(delays, 0.99), { unit: 'ms', limit: 100 }),
  ];
}

/** A new operator on a settled fleet, until it has asked the etcd of every cluster. */
export async function restart(
  bench: Bench,
  { operator, keys }: { readonly operator: Operator; readonly keys: readonly string[] },
): Promise<{ readonly operator: Operator; readonly figures: readonly Figure[] }> {
  const { fleet, audit } = bench;
  await untilQuiet(bench);
  await operator.stop();
  fleet.etcd.forgetAsked();
  const before = audit.writes().length;
  const next = bench.startOperator();
  const began = performance.now();
  const all = new Set(keys.map((key) => fleet.etcdOf(key)));
  while ([...all].some((each) => each !== undefined && !fleet.etcd.asked.has(each))) await sleep(50);
  const seconds = (performance.now() - began) / 1000;
  const cpuSeconds = next.cpuSeconds();
  await next.ready();
  await untilQuiet(bench);
  const made = audit.writes().slice(before);
  if (made.length > 0) print(`writes after a restart: ${JSON.stringify(byKind(made))}`);
  return {
    operator: next,
    figures: [
      amount('a new operator has looked at all', seconds, { unit: 's', limit: 20 }),
      amount('– its CPU until then', cpuSeconds, { unit: 's', limit: 20 }),
      amount('– its writes', made.length, { unit: '', limit: 0 }),
      amount('– its memory (RSS), peak', next.memory('VmHWM'), { unit: 'MiB', limit: limitOfDeployment() }),
    ],
  };
}
