import { type Bed, runBenchmarks } from './support/bed.ts';
import { cleanUp, resource, threeMembers } from './support/clusters.ts';
import type { Figure } from './support/figures.ts';
import { asList, freshName, HandMade } from './support/manifests.ts';
import { inTurn, secondsOf, Witness } from './support/serving.ts';

/** How long until the last of ten clusters serves, applied all at once, against their thirty pods and twenty services by hand. */
export async function tenClustersServe(bed: Bed): Promise<readonly Figure[]> {
  using witness = new Witness(bed);
  const measure = async (names: readonly string[], documents: readonly (object | string)[]): Promise<number> => {
    const seconds = await secondsOf(async () => {
      await bed.kubectl('apply -f -', { input: asList(documents) });
      for (const name of names) await witness.serving(name, 3); // one after the other: the last to serve decides
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
