import type { CarrierName } from '../model/cluster.ts';
import type { Blueprint, Manifest } from './manifest.ts';

/** A member's own disk, under its own name. */
export function memberClaim({ intent, owner, naming, template }: Blueprint, name: CarrierName): Manifest | undefined {
  if (template.claim === undefined) return undefined;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace: intent.namespace,
      labels: { ...naming.clusterLabels, [naming.memberLabel]: name },
      ownerReferences: [owner],
    },
    spec: template.claim,
  };
}
