import type { DeclaredCluster } from './cluster.ts';
import { until } from './until.ts';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

export async function conditionOf(cluster: DeclaredCluster, type: string): Promise<Condition | undefined> {
  const { conditions = [] } = (await cluster.status()) as { conditions?: readonly Condition[] };
  return conditions.find((condition) => condition.type === type);
}

/** Waits until the status says, among other things, what is wrong. `kubectl wait` knows no part of a sentence. */
export async function toldOf(cluster: DeclaredCluster, part: string, seconds = 30): Promise<Condition> {
  const isTold = async (): Promise<Condition | undefined> => {
    const condition = await conditionOf(cluster, 'Degraded');
    return condition?.status === 'True' && condition.message?.includes(part) === true ? condition : undefined;
  };
  return until(`the status says: ${part}`, isTold, { seconds });
}
