import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  type EndpointSlice,
  keyOf,
  type NamespacedName,
  type Pod,
  type Service,
  type Stored,
} from '../../src/kube/object.ts';
import { endpointSlices } from '../../src/kube/resource.ts';
import type { Runnable } from '../../src/runtime/manager.ts';
import { done } from '../../src/runtime/outcome.ts';
import { unless } from '../../src/std/failure.ts';
import { specOf } from '../kubelet/pod/plan.ts';
import { portOf } from '../kubelet/probe/check.ts';
import { type ControllerContext, controller, isReady, ownerReference, sameNamespaceKeys } from './controller.ts';

const manager = 'endpointslice-controller.k8s.io';

/** Keeps an EndpointSlice for each Service with a selector. */
export function endpoints(context: ControllerContext): Runnable {
  const { stores, client } = context;
  return controller(context, {
    watch: (add) => {
      stores.services.onChange(({ object }) => add(keyOf(object.metadata)));
      stores.pods.onChange(sameNamespaceKeys(stores.services, add));
    },
    reconcile: async (key) => {
      const service = stores.services.get(key);
      if (service?.spec?.selector === undefined) return done;
      const wanted = sliceOf(service, podsBehind(service, stores.pods.all()));
      const present = stores.slices.get(keyOf(wanted.metadata));
      if (present === undefined) await client.create(endpointSlices, wanted);
      else if (differs(present, wanted)) await update(context, wanted);
      return done;
    },
  });
}

async function update(
  { client }: ControllerContext,
  { metadata, endpoints: all, ports }: EndpointSlice,
): Promise<void> {
  const at: NamespacedName = metadata;
  const body = [
    { op: 'replace', path: '/endpoints', value: all },
    { op: 'add', path: '/ports', value: ports },
  ];
  await unless('not-found', client.patch(endpointSlices, at, { type: 'json', body }), undefined);
}

function differs(present: EndpointSlice, wanted: EndpointSlice): boolean {
  const plain = (slice: EndpointSlice): unknown =>
    JSON.parse(JSON.stringify([slice.endpoints ?? [], slice.ports ?? []]));
  return !isDeepStrictEqual(plain(present), plain(wanted));
}

const podsBehind = ({ metadata, spec }: Service, pods: readonly Stored<Pod>[]): readonly Stored<Pod>[] =>
  pods
    .filter(
      (pod) =>
        pod.metadata.namespace === metadata.namespace &&
        pod.status?.podIP !== undefined &&
        pod.status.phase !== 'Succeeded' &&
        pod.status.phase !== 'Failed' &&
        Object.entries(spec?.selector ?? {}).every(([key, value]) => pod.metadata.labels?.[key] === value),
    )
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));

export function sliceOf(service: Service, pods: readonly Pod[]): EndpointSlice {
  const { namespace = '', name } = service.metadata;
  const suffix = createHash('sha256').update(`${namespace}/${name}`).digest('hex').slice(0, 5);
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `${name}-${suffix}`,
      namespace,
      labels: {
        'kubernetes.io/service-name': name,
        'endpointslice.kubernetes.io/managed-by': manager,
        ...(service.spec?.clusterIP === 'None' ? { 'service.kubernetes.io/headless': '' } : {}),
      },
      ownerReferences: [ownerReference(service)],
    },
    addressType: 'IPv4',
    endpoints: pods.map((pod) => endpointOf(service, pod)),
    ports: (service.spec?.ports ?? []).map(({ name: portName = '', port, targetPort, protocol = 'TCP' }) => ({
      name: portName,
      port: targetPortOf(targetPort ?? port, pods),
      protocol,
    })),
  };
}

/** A target port by name is taken from the first pod that has a port of that name. */
function targetPortOf(port: unknown, pods: readonly Pod[]): number {
  const containers = pods.flatMap(({ spec }) => spec?.containers ?? []);
  const known = containers.find(({ ports = [] }) => ports.some(({ name }) => name === port));
  return known === undefined ? Number(port) || 0 : portOf(port, known);
}

function endpointOf(service: Service, pod: Pod): NonNullable<EndpointSlice['endpoints']>[number] {
  const { hostname, subdomain, nodeName } = specOf(pod);
  const isNamed = hostname !== undefined && subdomain === service.metadata.name;
  const { namespace, name, uid } = pod.metadata;
  return {
    addresses: [pod.status?.podIP ?? ''],
    conditions: conditionsOf(service, pod),
    ...(isNamed ? { hostname } : {}),
    ...(nodeName === undefined ? {} : { nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid } as never,
  };
}

function conditionsOf({ spec }: Service, pod: Pod): { ready: boolean; serving: boolean; terminating: boolean } {
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const serving = isReady(pod);
  return { ready: spec?.publishNotReadyAddresses === true || (serving && !terminating), serving, terminating };
}
