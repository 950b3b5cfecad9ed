import type { Pod, Stored } from '../src/kube/object.ts';
import { type Bed, runBenchmarks } from './support/bed.ts';
import { cleanUp, resource } from './support/clusters.ts';
import { type Figure, median } from './support/figures.ts';
import { asList, freshName, HandMade } from './support/manifests.ts';
import { inTurn, secondsOf, Witness } from './support/serving.ts';
import { type Experience, whileWriting } from './support/writer.ts';

const [from, to] = ['3.5.21', '3.5.35'] as const;

/**
 * How long a rolling upgrade takes, and what clients notice of it: the operator, against somebody who patches one image after
 * the other as soon as the last member is back, moves the lead away and changes the leader last. Each time on a new cluster:
 * a kubelet makes containers wait that it had to start again several times.
 */
export async function rollingUpgrade(bed: Bed): Promise<readonly Figure[]> {
  using witness = new Witness(bed);
  const spec = { size: 3, version: from };
  const noticed = { ours: [] as Experience[], byHand: [] as Experience[] };

  const measure = async (who: keyof typeof noticed, name: string, documents: readonly (object | string)[]) => {
    await bed.kubectl('apply -f -', { input: asList(documents) });
    await witness.serving(name, 3);
    await bed.kubectl(`wait pods -l ${bed.api.label}=${name} --for=condition=Ready --timeout=60s`);
    const upgrade = who === 'ours' ? byOperator : byPatches;
    let seconds = Number.NaN;
    const experience = await whileWriting(witness, name, async () => {
      seconds = await secondsOf(() => upgrade(name, { bed, witness }));
    });
    noticed[who].push(experience);
    await cleanUp(bed, [name], documents);
    return seconds;
  };
  const taken = await inTurn(bed.pairs, {
    ours: () => {
      const name = freshName();
      return measure('ours', name, [resource(bed, name, spec)]);
    },
    byHand: () => {
      const made = new HandMade(bed, freshName(), spec);
      return measure('byHand', made.name, made.all());
    },
  });
  return [{ question: 'rolling upgrade of three members', limit: 1.5, ...taken }, ...amountsOf(noticed)];
}

interface Means {
  readonly bed: Bed;
  readonly witness: Witness;
}

async function byOperator(cluster: string, { bed, witness }: Means): Promise<void> {
  await bed.kubectl(
    `patch ${bed.api.resource}/${cluster} --type=merge -p '${JSON.stringify({ spec: { version: to } })}'`,
  );
  for (const { metadata } of await witness.podsOf(cluster)) await witness.runs(cluster, metadata.name, to);
}

async function byPatches(cluster: string, { bed, witness }: Means): Promise<void> {
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
