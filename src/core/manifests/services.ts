import { type Naming, ports } from '../cluster/model/template.ts';
import { servingLabel } from './labels.ts';
import type { Blueprint, Manifest } from './manifest.ts';

const portsOf = ({ ports: { service: names } }: Naming) => ({
  client: { name: names.client, port: ports.client, targetPort: ports.client, protocol: 'TCP' },
  peer: { name: names.peer, port: ports.peer, targetPort: ports.peer, protocol: 'TCP' },
});

/**
 * The headless Service for peers. It publishes unready pods, because members resolve each other before they are ready.
 */
export function peerService(blueprint: Blueprint): Manifest {
  const { client, peer } = portsOf(blueprint.naming);
  return service(blueprint, blueprint.naming.peerService, {
    clusterIP: 'None',
    publishNotReadyAddresses: true,
    ports: [client, peer],
  });
}

/**
 * The Service for clients. It leads to ready members with the serving label. `selectsAll`: no pod has that label yet,
 * because another operator created the pods.
 */
export function clientService(blueprint: Blueprint, { selectsAll = false } = {}): Manifest {
  const { naming } = blueprint;
  const selector = { ...naming.clusterLabels, ...(selectsAll ? {} : { [servingLabel(naming)]: 'true' }) };
  return service(blueprint, naming.clientService, { type: 'ClusterIP', selector, ports: [portsOf(naming).client] });
}

function service({ intent, owner, naming }: Blueprint, name: string, spec: Manifest['spec']): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: intent.namespace, labels: naming.clusterLabels, ownerReferences: [owner] },
    spec: { selector: naming.clusterLabels, ...spec },
  };
}
