import type { Pod, Stored } from '../src/kube/object.ts';
import { type Bed, runBenchmarks } from './support/bed.ts';
import { cleanUp, resource } from './support/clusters.ts';
import { type Figure, median } from './support/figures.ts';
import { asList, freshName, HandMade } from './support/manifests.ts';
import { inTurn, secondsOf, Witness } from './support/serving.ts';
import { type Experience, whileWriting } from './support/writer.ts';

/** Two patches of one minor: each way between them is allowed. */
const versions = ['3.5.21', '3.5.35'] as const;
const [first] = versions;

/**
 * How long a rolling upgrade takes, and what clients notice of it: the operator, against somebody who patches one image after
 * the other as soon as the last member is back, moves the lead away and changes the leader last.
 */
export async function rollingUpgrade(bed: Bed): Promise<readonly Figure[]> {
  using witness = new Witness(bed);
  const spec = { size: 3, version: first };
  const [cared, made] = [freshName(), new HandMade(bed.namespace, freshName(), spec)];
  const documents = [resource(cared, spec), ...made.all()];
  await bed.kubectl('apply -f -', { input: asList(documents) });
  for (const name of [cared, made.name]) await witness.serving(name, 3);

  const noticed = { ours: [] as Experience[], byHand: [] as Experience[] };
  const measure = (who: keyof typeof noticed, cluster: string, upgrade: (to: string) => Promise<void>) => {
    let rounds = 0;
    return async (): Promise<number> => {
      const to = versions[++rounds % 2] ?? first;
      let seconds = Number.NaN;
      const experience = await whileWriting(witness, cluster, async () => {
        seconds = await secondsOf(() => upgrade(to));
      });
      if (rounds > 1) noticed[who].push(experience); // the first pair does not count
      await witness.serving(cluster, 3);
      return seconds;
    };
  };
  const taken = await inTurn(bed.pairs, {
    ours: measure('ours', cared, (to) => byOperator(cared, to, { bed, witness })),
    byHand: measure('byHand', made.name, (to) => byPatches(made.name, to, { bed, witness })),
  });
  await cleanUp(bed, [cared, made.name], documents);
  return [{ question: 'rolling upgrade of three members', limit: 1.5, ...taken }, ...amountsOf(noticed)];
}

interface Means {
  readonly bed: Bed;
  readonly witness: Witness;
}

async function byOperator(cluster: string, to: string, { bed, witness }: Means): Promise<void> {
  await bed.kubectl(`patch etcdcluster ${cluster} --type=merge -p '${JSON.stringify({ spec: { version: to } })}'`);
  for (const { metadata } of await witness.podsOf(cluster)) await witness.runs(cluster, metadata.name, to);
}

async function byPatches(cluster: string, to: string, { bed, witness }: Means): Promise<void> {
  const all = await witness.podsOf(cluster);
  const leader = await witness.leader(cluster);
  const isLeader = ({ metadata }: Stored<Pod>): boolean => metadata.name === leader.metadata.name;
  const change = async ({ metadata: { name } }: Stored<Pod>): Promise<void> => {
    await bed.kubectl(`set image pod/${name} etcd=quay.io/coreos/etcd:v${to}`);
    await witness.runs(cluster, name, to);
  };
  const followers = all.filter((pod) => !isLeader(pod));
  for (const pod of followers) await change(pod);
  await witness.moveLead(leader, followers[0] ?? leader);
  await change(leader);
}

interface Noticed {
  readonly ours: readonly Experience[];
  readonly byHand: readonly Experience[];
}

function amountsOf({ ours, byHand }: Noticed): readonly Figure[] {
  const gap = (those: readonly Experience[]): number => median(those.map(({ longestGapMillis }) => longestGapMillis));
  const failed = ours.reduce((sum, experience) => sum + experience.failed, 0);
  const longer = Math.round(gap(ours) - gap(byHand));
  process.stdout.write(`longest gaps  ours ${Math.round(gap(ours))} ms  by hand ${Math.round(gap(byHand))} ms\n`);
  return [
    { question: 'writes that failed twice in rolling upgrades', amount: failed, unit: '', limit: 0 },
    { question: 'longest gap in writes, longer than by hand', amount: longer, unit: 'ms', limit: 100 },
  ];
}

if (import.meta.main) await runBenchmarks([rollingUpgrade]);
