import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditLog, Write } from './audit.ts';
import type { Fleet } from './fleet.ts';
import type { Operator } from './operator.ts';

/** Everything that the phases of the bench share. */
export interface Bench {
  readonly fleet: Fleet;
  readonly audit: AuditLog;
  readonly kubeconfig: string;
  readonly clusters: number;
  readonly idleSeconds: number;
  /** Clusters that are created, scaled and deleted at the end. */
  readonly churn: number;
  readonly startOperator: () => Operator;
}

/** Wall and CPU seconds of some work. */
export interface Took {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

export async function timed(operator: Operator, work: () => Promise<unknown>): Promise<Took> {
  const [began, cpu] = [performance.now(), operator.cpuSeconds()];
  await work();
  return { seconds: (performance.now() - began) / 1000, cpuSeconds: operator.cpuSeconds() - cpu };
}

/** Waits until the operator has written nothing for some seconds. */
export async function untilQuiet({ audit }: Bench, quietSeconds = 5): Promise<void> {
  for (let before = -1, now = audit.writes().length; before !== now; ) {
    await sleep(quietSeconds * 1000);
    [before, now] = [now, audit.writes().length];
  }
}

/** The value below which this share of the numbers is. */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** The number of writes by verb and resource. */
export const byKind = (writes: readonly Write[]): Readonly<Record<string, number>> =>
  Object.fromEntries(
    [...Map.groupBy(writes, ({ verb, resource, code }) => `${verb} ${resource}${code < 300 ? '' : ` (${code})`}`)].map(
      ([kind, each]) => [kind, each.length],
    ),
  );
