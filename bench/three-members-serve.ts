import { type Bed, runBenchmarks } from './support/bed.ts';
import { cleanUp, resource, threeMembers } from './support/clusters.ts';
import type { Figure } from './support/figures.ts';
import { asList, freshName, HandMade } from './support/manifests.ts';
import { inTurn, MemberObserver, secondsOf } from './support/serving.ts';

/**
 * Measures the time until three members serve: a custom resource, against the same pods and services applied by hand.
 */
export async function threeMembersServe(bed: Bed): Promise<readonly Figure[]> {
  using observer = new MemberObserver(bed);
  const measure = async (name: string, documents: readonly (object | string)[]): Promise<number> => {
    const seconds = await secondsOf(async () => {
      await bed.kubectl('apply -f -', { input: asList(documents) });
      await observer.serving(name, 3);
    });
    await cleanUp(bed, [name], documents);
    return seconds;
  };
  const taken = await inTurn(bed.pairs, {
    ours: () => {
      const name = freshName();
      return measure(name, [resource(bed, name)]);
    },
    byHand: () => {
      const made = new HandMade(bed, freshName(), threeMembers);
      return measure(made.name, made.all());
    },
  });
  return [{ question: 'three members serve', limit: 1.3, ...taken }];
}

if (import.meta.main) await runBenchmarks([threeMembersServe]);
