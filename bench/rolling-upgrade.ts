import type { Pod, Stored } from '../src/kube/object.ts';
import { type Bed, runBenchmarks } from './support/bed.ts';
import { cleanUp, resource } from './support/clusters.ts';
import { type Figure, median } from './support/figures.ts';
import { asList, freshName, HandMade } from './support/manifests.ts';
import { inTurn, MemberObserver, secondsOf } from './support/serving.ts';
import { type Experience, whileWriting } from './support/writer.ts';

const [from, to] = ['3.5.21', '3.5.35'] as const;

/**
 * Measures a rolling upgrade and its effect on clients: the operator, against a script that patches one image after the
 * other once the last member is back, transfers leadership, and changes the leader last. Each run uses a new cluster:
 * the kubelet delays containers that it restarted several times.
 */
export async function rollingUpgrade(bed: Bed): Promise<readonly Figure[]> {
  using observer = new MemberObserver(bed);
  const spec = { size: 3, version: from };
  const experiences = { ours: [] as Experience[], byHand: [] as Experience[] };

  const measure = async (by: keyof typeof experiences, name: string, documents: readonly (object | string)[]) => {
    await bed.kubectl('apply -f -', { input: asList(documents) });
    await observer.serving(name, 3);
    await bed.kubectl(`wait pods -l ${bed.api.label}=${name} --for=condition=Ready --timeout=60s`);
    const upgrade = by === 'ours' ? byOperator : byPatches;
    let seconds = Number.NaN;
    const experience = await whileWriting(observer, name, async () => {
      seconds = await secondsOf(() => upgrade(name, { bed, observer }));
    });
    experiences[by].push(experience);
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
  return [{ question: 'rolling upgrade of three members', limit: 1.5, ...taken }, ...amountsOf(experiences)];
}

interface Context {
  readonly bed: Bed;
  readonly observer: MemberObserver;
}

async function byOperator(cluster: string, { bed, observer }: Context): Promise<void> {
  await bed.kubectl(
    `patch ${bed.api.resource}/${cluster} --type=merge -p '${JSON.stringify({ spec: { version: to } })}'`,
  );
  for (const { metadata } of await observer.podsOf(cluster)) await observer.runs(cluster, metadata.name, to);
}

async function byPatches(cluster: string, { bed, observer }: Context): Promise<void> {
  const all = await observer.podsOf(cluster);
  const leader = await observer.leader(cluster);
  const isLeader = ({ metadata }: Stored<Pod>): boolean => metadata.name === leader.metadata.name;
  const change = async ({ metadata: { name } }: Stored<Pod>): Promise<void> => {
    await bed.kubectl(`set image pod/${name} etcd=quay.io/coreos/etcd:v${to}`);
    await observer.runs(cluster, name, to);
  };
  const followers = all.filter((pod) => !isLeader(pod));
  for (const pod of followers) await change(pod);
  await observer.transferLeadership(leader, followers[0] ?? leader);
  await change(leader);
}

interface Experiences {
  readonly ours: readonly Experience[];
  readonly byHand: readonly Experience[];
}

function amountsOf({ ours, byHand }: Experiences): readonly Figure[] {
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
