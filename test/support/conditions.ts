import type { DeclaredCluster } from './cluster.ts';
import { watchUntil } from './waits.ts';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

interface WithConditions {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export async function conditionOf(cluster: DeclaredCluster, type: string): Promise<Condition | undefined> {
  const { conditions = [] } = (await cluster.status()) as { conditions?: readonly Condition[] };
  return conditions.find((condition) => condition.type === type);
}

/** Waits until the message of the condition Degraded contains this text; returns the condition. */
export const degradedWith = (cluster: DeclaredCluster, part: string, seconds = 30): Promise<Condition> =>
  watchUntil<WithConditions, Condition>(cluster, cluster.resource, {
    what: `condition Degraded with message: ${part}`,
    answer: ([{ status } = {}]) =>
      status?.conditions?.find(
        ({ type, status: is, message }) => type === 'Degraded' && is === 'True' && message?.includes(part) === true,
      ),
    seconds,
  });
