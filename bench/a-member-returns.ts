import { type Bed, runBenchmarks } from './support/bed.ts';
import { cleanUp, resource, threeWithDisks } from './support/clusters.ts';
import type { Figure } from './support/figures.ts';
import { asList, freshName, HandMade } from './support/manifests.ts';
import { inTurn, secondsOf, Witness } from './support/serving.ts';

/**
 * How long from the deletion of a pod until its member serves again from its disk: the operator, against somebody who
 * applies the same pod as soon as the old one is gone. Followers, on two clusters that stay the same throughout.
 */
export async function aMemberReturns(bed: Bed): Promise<readonly Figure[]> {
  using witness = new Witness(bed);
  const { kubectl } = bed;
  const cared = freshName();
  const made = new HandMade(bed, freshName(), threeWithDisks);
  const documents = [resource(bed, cared, threeWithDisks), ...made.all()];
  await kubectl('apply -f -', { input: asList(documents) });
  for (const name of [cared, made.name]) await witness.serving(name, 3);

  const measure = async (cluster: string, lose: (pod: string) => Promise<unknown>): Promise<number> => {
    const pod = await witness.follower(cluster);
    const seconds = await secondsOf(async () => {
      await lose(pod.metadata.name);
      await witness.returned(cluster, pod, 3);
    });
    await witness.serving(cluster, 3);
    return seconds;
  };
  const taken = await inTurn(bed.pairs, {
    ours: () => measure(cared, (pod) => kubectl(`delete pod ${pod} --wait=false`)),
    byHand: () =>
      measure(made.name, async (pod) => {
        await kubectl(`delete pod ${pod}`);
        await kubectl('apply -f -', { input: JSON.stringify(made.founder(pod as never)) });
      }),
  });
  await cleanUp(bed, [cared, made.name], documents);
  return [{ question: 'a deleted member is back on its disk', limit: 1.3, ...taken }];
}

if (import.meta.main) await runBenchmarks([aMemberReturns]);
