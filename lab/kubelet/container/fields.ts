import { availableParallelism, totalmem } from 'node:os';
import type { V1ResourceFieldSelector } from '@kubernetes/client-node';
import type { Json, Pod } from '../../../src/kube/object.ts';
import { nanosOf } from '../../../src/std/quantity.ts';
import type { ContainerSpec } from './environment.ts';

const keyed = /^metadata\.(annotations|labels)\['(.*)'\]$/;

/** A pod field of the downward API. */
export function fieldOf(pod: Pod, path: string): string {
  const [, which, key] = keyed.exec(path) ?? [];
  if (which !== undefined && key !== undefined) return pod.metadata[which as 'labels' | 'annotations']?.[key] ?? '';
  return simpleFields[path]?.(pod) ?? '';
}

const simpleFields: Readonly<Record<string, (pod: Pod) => string | undefined>> = {
  'metadata.name': (pod) => pod.metadata.name,
  'metadata.namespace': (pod) => pod.metadata.namespace,
  'metadata.uid': (pod) => pod.metadata.uid,
  'metadata.labels': (pod) => lines(pod.metadata.labels ?? {}),
  'metadata.annotations': (pod) => lines(pod.metadata.annotations ?? {}),
  'spec.nodeName': (pod) => pod.spec?.nodeName,
  'spec.serviceAccountName': (pod) => pod.spec?.serviceAccountName,
  'status.podIP': (pod) => pod.status?.podIP,
  'status.podIPs': (pod) => pod.status?.podIP,
  'status.hostIP': (pod) => pod.status?.hostIP,
  'status.hostIPs': (pod) => pod.status?.hostIP,
};

const lines = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort()
    .join('\n');

/** A container's request or limit in units of the divisor, rounded up. An unset limit is the capacity of the host. */
export function resourceFieldOf(container: ContainerSpec, selector: Json<V1ResourceFieldSelector>): string {
  const { resource, divisor = '0' } = selector;
  const unit = nanosOf(divisor) || nanosOf(1);
  return String((nanosOf(requestOrLimit(container, resource)) + unit - 1n) / unit);
}

function requestOrLimit({ resources = {} }: ContainerSpec, resource: string): string {
  const [set, name = ''] = resource.split('.');
  const { limits = {}, requests = {} } = resources;
  return set === 'limits' ? (limits[name] ?? hostCapacity(name)) : (requests[name] ?? '0');
}

const hostCapacity = (name: string): string => String(name === 'cpu' ? availableParallelism() : totalmem());
