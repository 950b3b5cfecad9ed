import { quorumOf } from '../quorum.ts';
import type { Blueprint, Manifest } from './manifest.ts';

interface Counted {
  readonly voters: number;
  /** Those whose pods are ready: they count as available too, and are no help to a majority. */
  readonly learners: number;
}

/**
 * How many members must stay up while nodes are drained: a majority of the voters that there are or will be. A cluster of
 * one has no budget, since it would only keep its node from ever being drained.
 */
export function disruptionBudget(
  { intent, owner, naming }: Blueprint,
  { voters, learners }: Counted,
): Manifest | undefined {
  const most = Math.max(voters, intent.size);
  if (most < 2) return undefined;
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: {
      name: intent.name,
      namespace: intent.namespace,
      labels: naming.clusterLabels,
      ownerReferences: [owner],
    },
    spec: {
      minAvailable: Math.max(quorumOf(most), quorumOf(voters) + learners),
      selector: { matchLabels: naming.clusterLabels },
    },
  };
}
