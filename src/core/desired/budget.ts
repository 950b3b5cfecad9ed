import { quorumOf } from '../quorum.ts';
import type { Blueprint, Manifest } from './manifest.ts';

/**
 * How many members must stay up while nodes are drained: a majority of the voters that there are or will be. A cluster of
 * one has no budget, since it would only keep its node from ever being drained.
 */
export function disruptionBudget({ intent, owner, naming }: Blueprint, voters: number): Manifest | undefined {
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
    spec: { minAvailable: quorumOf(most), selector: { matchLabels: naming.clusterLabels } },
  };
}
