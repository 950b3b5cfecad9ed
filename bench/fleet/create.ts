import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type { Figure, Race } from '../support/figures.ts';
import type { ByHand } from './by-hand.ts';
import { type Bench, byKind, type Took, timed } from './measure.ts';
import type { Operator } from './operator.ts';

/** The result of the creation of the fleet. */
export interface Created {
  readonly keys: readonly string[];
  readonly figures: readonly Figure[];
}

/** Creates a tenth of the fleet, then the rest, and waits until all clusters are shown as running. */
export async function createFleet(bench: Bench, operator: Operator): Promise<Created> {
  const { fleet, clusters } = bench;
  const keys = await fleet.names(clusters);
  const tenth = Math.ceil(clusters / 10);
  const make = (some: readonly string[]): Promise<Took> =>
    timed(operator, async () => {
      await fleet.create(some);
      await fleet.until('running', some, (key) => fleet.isRunning(key));
    });
  const first = await make(keys.slice(0, tenth));
  const rest = await make(keys.slice(tenth));
  const hand = await byHand(bench, keys[0] ?? '');
  print(`${tenth} in ${inSeconds(first)}, the rest in ${inSeconds(rest)}; by hand ${inSeconds(hand)}`);
  const ours: Race = {
    question: `${clusters} clusters run, against the same writes by hand`,
    ours: [first.seconds + rest.seconds],
    byHand: [hand.seconds],
    limit: 1.5,
  };
  const cpuMillis = (first.cpuSeconds + rest.cpuSeconds) * 1000;
  return {
    keys,
    figures: [
      ours,
      amount('– against the first tenth', (ours.ours[0] ?? 0) / first.seconds, { unit: '×', limit: 11 }),
      ...writesOf(bench),
      amount('– CPU of the operator, each', cpuMillis / clusters, { unit: 'ms', limit: 40 }),
    ],
  };
}

const inSeconds = ({ seconds, cpuSeconds }: Took): string => `${seconds.toFixed(1)} s (CPU ${cpuSeconds.toFixed(1)} s)`;

/** The number of status writes depends on how long clusters form, so other writes have a limit of their own. */
function writesOf({ audit, clusters, fleet }: Bench): readonly Figure[] {
  const writes = audit.writes();
  print(`writes: ${JSON.stringify(byKind(writes))}`);
  const { besidesStatus, all } = limitOfWrites[fleet.api.name];
  const others = writes.filter(({ resource }) => resource !== 'etcdclusters/status' && resource !== 'etcdpeers/status');
  return [
    amount('– writes besides the status, each', others.length / clusters, { unit: '', limit: besidesStatus }),
    amount('– writes of the operator, each', writes.length / clusters, { unit: 'each', limit: all }),
  ];
}

/** The limits of writes for a new cluster of three. */
const limitOfWrites = { coreos: { besidesStatus: 9, all: 12 }, improbable: { besidesStatus: 18, all: 25 } } as const;

export const print = (line: string): void => void process.stderr.write(`${line}\n`);

export const amount = (
  question: string,
  value: number,
  { unit, limit }: { readonly unit: string; readonly limit: number },
): Figure => ({
  question,
  amount: Number(value.toFixed(value < 10 ? 2 : 1)),
  unit,
  limit,
});

/** Makes as many clusters by hand, with the objects of one cluster of the operator as a model. */
async function byHand({ fleet, clusters, kubeconfig }: Bench, model: string): Promise<Took> {
  const keys = await fleet.names(clusters);
  const { status = {} } = fleet.clusters.store.get(model) ?? {};
  const objects = (await fleet.objectsOf(model)).map(({ resource, object }) => ({
    resource,
    object: withoutState(object),
  }));
  await fleet.createIgnored(keys);
  await fleet.until('declared', keys, (key) => fleet.clusters.store.get(key) !== undefined);
  const declared = keys.map((key) => ({ key, uid: fleet.clusters.store.get(key)?.metadata.uid ?? '' }));
  const input: ByHand = {
    kubeconfig,
    declared: fleet.resource,
    model: { key: model, status, objects },
    clusters: declared,
  };
  const child = spawn(process.execPath, [join(import.meta.dirname, 'by-hand.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify(input));
  const took = (await json(child.stdout)) as Took;
  await fleet.delete(keys);
  return took;
}

/** Without what the API server adds. */
function withoutState<T extends object>(object: T): T {
  const {
    status: _,
    spec = {},
    ...rest
  } = object as { readonly status?: unknown; readonly spec?: Record<string, unknown> };
  const { clusterIP, clusterIPs, volumeName: _volume, ...kept } = spec;
  const headless = clusterIP === 'None' ? { clusterIP, clusterIPs } : {};
  return { ...rest, spec: { ...kept, ...headless } } as T;
}
