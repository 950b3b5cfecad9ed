import { type Bed, runBenchmarks } from './support/bed.ts';
import { cleanUp, resource, threeMembers } from './support/clusters.ts';
import type { Figure } from './support/figures.ts';
import { asList, freshName, HandMade } from './support/manifests.ts';
import { inTurn, MemberObserver, secondsOf } from './support/serving.ts';

/**
 * Measures the time until the last of ten clusters serves, applied at once, against thirty pods and twenty services by
 * hand.
 */
export async function tenClustersServe(bed: Bed): Promise<readonly Figure[]> {
  using observer = new MemberObserver(bed);
  const measure = async (names: readonly string[], documents: readonly (object | string)[]): Promise<number> => {
    const seconds = await secondsOf(async () => {
      await bed.kubectl('apply -f -', { input: asList(documents) });
      for (const name of names) await observer.serving(name, 3); // in sequence: the last cluster to serve decides
    });
    await cleanUp(bed, names, documents);
    return seconds;
  };
  const taken = await inTurn(bed.pairs, {
    ours: () => {
      const names = tenNames();
      return measure(
        names,
        names.map((name) => resource(bed, name)),
      );
    },
    byHand: () => {
      const names = tenNames();
      return measure(
        names,
        names.flatMap((name) => new HandMade(bed, name, threeMembers).all()),
      );
    },
  });
  return [{ question: 'ten clusters of three serve', limit: 1.3, ...taken }];
}

const tenNames = (): readonly string[] => Array.from({ length: 10 }, freshName);

if (import.meta.main) await runBenchmarks([tenClustersServe]);
