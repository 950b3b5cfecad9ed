import { setTimeout as sleep } from 'node:timers/promises';
import { pods } from '../../src/kube/resource.ts';
import type { Figure } from '../support/figures.ts';
import { amount, print } from './create.ts';
import { newVersion, oldVersion } from './fleet.ts';
import { type Bench, timed, untilQuiet } from './measure.ts';
import type { Operator } from './operator.ts';

/** How long clusters have been black holes before others change. */
const noticedSeconds = 10;

/** Creation, healing and upgrades of some clusters, with and without a tenth of the fleet that accepts and never answers. */
export async function withBlackHoles(
  bench: Bench,
  operator: Operator,
  keys: readonly string[],
): Promise<readonly Figure[]> {
  const { fleet } = bench;
  const count = Math.ceil(keys.length / 10);
  const blackHoles = keys.slice(0, count);
  const [one, other] = [keys.slice(count, 2 * count), keys.slice(2 * count, 3 * count)];
  await workOn(bench, operator, keys.slice(3 * count, 4 * count)); // the first run compiles code
  const without = await workOn(bench, operator, one);
  for (const key of blackHoles) setBlackHole(bench, key, true);
  await sleep(noticedSeconds * 1000);
  const withThem = await workOn(bench, operator, other);
  for (const key of blackHoles) setBlackHole(bench, key, false);
  await fleet.until('answering again', blackHoles, (key) => fleet.isRunning(key));
  await untilQuiet(bench);
  return [
    {
      question: 'a tenth silent: creation, healing and upgrades of others',
      ours: [withThem],
      byHand: [without],
      limit: 1.1,
    },
  ];
}

function setBlackHole({ fleet }: Bench, key: string, isBlackHole: boolean): void {
  const cluster = fleet.etcdOf(key);
  if (cluster !== undefined) cluster.isBlackHole = isBlackHole;
}

/** In seconds: new clusters, lost pods and upgrades, all at once. */
async function workOn({ fleet }: Bench, operator: Operator, keys: readonly string[]): Promise<number> {
  const [healed, upgraded] = [keys.slice(0, keys.length / 2), keys.slice(keys.length / 2)];
  const created = await fleet.names(keys.length);
  const lost = healed.map((key) => fleet.podsOf(key)[0]);
  const took = await timed(operator, async () => {
    await Promise.all([fleet.create(created), fleet.patch(upgraded, { version: newVersion })]);
    for (const pod of lost)
      if (pod !== undefined) await fleet.client.remove(pods, pod.metadata, { gracePeriodSeconds: 0 });
    await fleet.until('created', created, (key) => fleet.isRunning(key));
    await fleet.until('upgraded', upgraded, (key) => fleet.isRunning(key, { version: newVersion }));
    await fleet.until('healed', healed, (key) => fleet.isRunning(key) && fleet.podsOf(key).length === 3);
  });
  print(
    `created ${created.length}, healed ${healed.length}, upgraded ${upgraded.length}: ${took.seconds.toFixed(1)} s, CPU ${took.cpuSeconds.toFixed(1)} s`,
  );
  await fleet.delete(created);
  return took.seconds;
}

/** Upgrades of all clusters, ordered at once. */
export async function upgradeAll(
  bench: Bench,
  operator: Operator,
  keys: readonly string[],
): Promise<readonly Figure[]> {
  const { fleet } = bench;
  const version = keys.some((key) => fleet.isRunning(key)) ? newVersion : oldVersion;
  await operator.lag();
  let most = 0;
  const watching = setInterval(() => (most = Math.max(most, keys.filter((key) => isRolling(bench, key)).length)), 50);
  const took = await timed(operator, async () => {
    await fleet.patch(keys, { version });
    await fleet.until('upgraded', keys, (key) => fleet.isRunning(key, { version }));
  });
  clearInterval(watching);
  return [
    amount('upgrades of all at once: clusters that roll at a time', most, { unit: '', limit: 20 }),
    amount('– CPU of the operator, each', (took.cpuSeconds * 1000) / keys.length, { unit: 'ms', limit: 60 }),
    amount('– in all', took.seconds, { unit: 's', limit: keys.length }),
    amount('– lag of the event loop, p99', await operator.lag(), { unit: 'ms', limit: 50 }),
  ];
}

/** True if the pods of a cluster have different images. */
const isRolling = ({ fleet }: Bench, key: string): boolean =>
  new Set(fleet.podsOf(key).map(({ spec }) => spec?.containers[0]?.image)).size > 1;

const clustersOfARound = 100;

/** Clusters that are created, scaled and deleted, while the fleet stays. */
export async function churn(bench: Bench, operator: Operator): Promise<readonly Figure[]> {
  const { fleet } = bench;
  await untilQuiet(bench);
  let before = Number.NaN;
  for (let made = 0; made < bench.churn; made += clustersOfARound) {
    const keys = await fleet.names(Math.min(clustersOfARound, bench.churn - made));
    await fleet.create(keys);
    await fleet.until('running', keys, (key) => fleet.isRunning(key));
    await fleet.patch(keys, { [fleet.api.sizeField]: 5 });
    await fleet.until('scaled', keys, (key) => fleet.isRunning(key, { size: 5 }));
    await fleet.delete(keys);
    if (made < clustersOfARound) {
      await untilQuiet(bench);
      before = operator.memory('VmRSS');
    }
  }
  await untilQuiet(bench);
  const after = operator.memory('VmRSS');
  print(`churn of ${bench.churn}: ${before.toFixed(1)} to ${after.toFixed(1)} MiB`);
  return [amount('memory after churn, against before', after / before, { unit: '×', limit: 1.05 })];
}
