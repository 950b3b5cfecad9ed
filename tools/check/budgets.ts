/**
 * The CPU budget of each suite, in seconds of the reference machine (see `slowness` in `tools/lib/cpu.ts`). A suite
 * that exceeds its budget by more than a quarter fails the check. To raise a budget, append an entry with the reason.
 */
interface Budget {
  readonly cpuSeconds: number;
  readonly why: string;
}

/** The budget is for a whole suite; of stories, which run in turns, for one story. */
export const budgets: Readonly<Record<string, readonly Budget[]>> = {
  'format, lint, types': [{ cpuSeconds: 40, why: 'first estimate' }],
  'unit and simulation': [
    { cpuSeconds: 70, why: 'first estimate' },
    {
      cpuSeconds: 85,
      why: 'simulations of suspended operators, corrupt members, kept volumes and long waits; the SBOM of the image',
    },
    {
      cpuSeconds: 100,
      why: 'members leave the client Service before they stop: simulated upgrades have twice the steps; lives of the simulator, repeated; 200 tests that detect planted bugs',
    },
  ],
  'contract on the lab': [{ cpuSeconds: 70, why: 'first estimate' }],
  'bad input': [{ cpuSeconds: 60, why: '10 000 machine-made objects on the lab in one CPU minute' }],
  'simulated lives': [{ cpuSeconds: 40, why: '150 lives of the whole operator' }],
  'stories on the lab': [{ cpuSeconds: 9, why: 'first estimate, for each story' }],
  'make test as an ordinary user': [{ cpuSeconds: 500, why: 'first estimate' }],
  'real etcd of every version': [{ cpuSeconds: 40, why: 'first estimate' }],
  'real stores': [
    { cpuSeconds: 100, why: 'first estimate' },
    {
      cpuSeconds: 135,
      why: 'uploads are hashed and compared, also through a server that flips a byte; backups of members with a CORRUPT alarm',
    },
  ],
  'the lab': [{ cpuSeconds: 100, why: 'first estimate' }],
  'a fleet of clusters': [{ cpuSeconds: 35, why: 'fifty clusters: a third is kube-apiserver, a third the stand-ins' }],
  'the test cluster': [{ cpuSeconds: 100, why: 'first estimate' }],
  'stories on the cluster': [{ cpuSeconds: 6, why: 'first estimate, for each story' }],
  'contract and integration on the cluster': [{ cpuSeconds: 100, why: 'first estimate' }],
  'control plane, nodes and pods of the cluster': [{ cpuSeconds: 800, why: 'first estimate' }],
};

const tolerance = 1.25;

export interface Cost {
  readonly suite: string;
  readonly cpuSeconds: number;
  /** The number of stories, in a suite of stories. */
  readonly stories?: number;
}

/** The error message for a suite over its budget, if it is. */
export function overBudget({ suite, cpuSeconds, stories = 1 }: Cost, slowness: number): string | undefined {
  const budget = budgets[suite]?.at(-1)?.cpuSeconds;
  if (budget === undefined) return `${suite}: has no budget in tools/check/budgets.ts`;
  const [spent, allowed] = [cpuSeconds / Math.max(slowness, 1) / Math.max(stories, 1), budget * tolerance];
  if (spent <= allowed) return undefined;
  const each = stories > 1 ? ' a story' : '';
  return `${suite}: took ${spent.toFixed(1)} CPU-s${each}, more than a quarter over its budget of ${budget} (tools/check/budgets.ts)`;
}
