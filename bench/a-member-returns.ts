import { type Bed, runBenchmarks } from './support/bed.ts';
import { cleanUp, resource, threeWithVolumes } from './support/clusters.ts';
import type { Figure } from './support/figures.ts';
import { asList, freshName, HandMade } from './support/manifests.ts';
import { inTurn, MemberObserver, secondsOf } from './support/serving.ts';

/**
 * Measures the time from the deletion of a pod until its member serves again from its volume: the operator, against a
 * script that applies the same pod as soon as the old one is gone. Only followers are deleted, on two clusters that are
 * kept.
 */
export async function aMemberReturns(bed: Bed): Promise<readonly Figure[]> {
  using observer = new MemberObserver(bed);
  const { kubectl } = bed;
  const managed = freshName();
  const made = new HandMade(bed, freshName(), threeWithVolumes);
  const documents = [resource(bed, managed, threeWithVolumes), ...made.all()];
  await kubectl('apply -f -', { input: asList(documents) });
  for (const name of [managed, made.name]) await observer.serving(name, 3);

  const measure = async (cluster: string, lose: (pod: string) => Promise<unknown>): Promise<number> => {
    const pod = await observer.follower(cluster);
    const seconds = await secondsOf(async () => {
      await lose(pod.metadata.name);
      await observer.returned(cluster, pod, 3);
    });
    await observer.serving(cluster, 3);
    return seconds;
  };
  const taken = await inTurn(bed.pairs, {
    ours: () => measure(managed, (pod) => kubectl(`delete pod ${pod} --wait=false`)),
    byHand: () =>
      measure(made.name, async (pod) => {
        await kubectl(`delete pod ${pod}`);
        await kubectl('apply -f -', { input: JSON.stringify(made.bootstrapMember(pod as never)) });
      }),
  });
  await cleanUp(bed, [managed, made.name], documents);
  return [{ question: 'a deleted member serves again from its volume', limit: 1.3, ...taken }];
}

if (import.meta.main) await runBenchmarks([aMemberReturns]);
