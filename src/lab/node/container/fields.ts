import { totalmem } from 'node:os';
import type { V1ResourceFieldSelector } from '@kubernetes/client-node';
import type { Json, Pod } from '../../../kube/object.ts';
import { bytesOf, coresOf } from '../quantity.ts';
import type { ContainerSpec } from './environment.ts';

const keyed = /^metadata\.(annotations|labels)\['(.*)'\]$/;

/** A field of a pod that it may be told about itself. */
export function fieldOf(pod: Pod, path: string): string {
  const [, which, key] = keyed.exec(path) ?? [];
  if (which !== undefined && key !== undefined) return pod.metadata[which as 'labels' | 'annotations']?.[key] ?? '';
  return simpleFields[path]?.(pod) ?? '';
}

const simpleFields: Readonly<Record<string, (pod: Pod) => string | undefined>> = {
  'metadata.name': (pod) => pod.metadata.name,
  'metadata.namespace': (pod) => pod.metadata.namespace,
  'metadata.uid': (pod) => pod.metadata.uid,
  'metadata.labels': (pod) => listed(pod.metadata.labels ?? {}),
  'metadata.annotations': (pod) => listed(pod.metadata.annotations ?? {}),
  'spec.nodeName': (pod) => pod.spec?.nodeName,
  'spec.serviceAccountName': (pod) => pod.spec?.serviceAccountName,
  'status.podIP': (pod) => pod.status?.podIP,
  'status.podIPs': (pod) => pod.status?.podIP,
  'status.hostIP': (pod) => pod.status?.hostIP,
  'status.hostIPs': (pod) => pod.status?.hostIP,
};

const listed = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort()
    .join('\n');

/** A container's own request or limit, in whole units of the divisor; without one, what the machine has. */
export function resourceFieldOf(
  container: ContainerSpec,
  { resource, divisor }: Json<V1ResourceFieldSelector>,
): string {
  const [set = '', name = ''] = resource.split('.');
  const given = (set === 'limits' ? container.resources?.limits : container.resources?.requests)?.[name];
  const read = name === 'cpu' ? coresOf : bytesOf;
  const whole = name === 'cpu' ? '1' : String(totalmem());
  const unit = divisor === undefined || divisor === '0' ? 1 : read(divisor);
  return String(Math.ceil(read(given ?? (set === 'limits' ? whole : '0')) / unit));
}
