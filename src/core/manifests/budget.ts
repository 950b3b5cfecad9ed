import { quorumOf } from '../quorum.ts';
import type { Blueprint, Manifest } from './manifest.ts';

interface Counted {
  readonly voters: number;
  /** Ready learners: the budget counts them as available, although they do not count for quorum. */
  readonly learners: number;
}

/**
 * The PodDisruptionBudget: a quorum of the current or future voters must stay up while nodes are drained. A cluster of
 * one has no budget, because it would block every drain of its node.
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
