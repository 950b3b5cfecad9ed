import { keyOf, type Pod, type Stored } from '../../kube/object.ts';
import { pods } from '../../kube/resource.ts';
import type { Runnable } from '../../runtime/manager.ts';
import { done, type Outcome } from '../../runtime/outcome.ts';
import { timeOf } from '../node/pod/status.ts';
import { claimsOf, controller, type Tools } from './controller.ts';
import { type Place, placeFor } from './place.ts';

/** Binds pods to nodes. */
export function scheduler(tools: Tools): Runnable {
  const { stores } = tools;
  /** Pods that were bound, until the cache says so too: the next choice must count them. */
  const bound = new Map<string, Pod>();
  const pending = (): readonly Stored<Pod>[] => stores.pods.all().filter(isPending);
  return controller(tools, {
    workers: 1,
    watch: (add) => {
      stores.pods.onChange(({ object, type }) => {
        bound.delete(object.metadata.uid);
        if (isPending(object)) add(keyOf(object.metadata));
        // Somebody made room, or came close.
        if (type === 'deleted') for (const pod of pending()) add(keyOf(pod.metadata));
      });
      stores.claims.onChange(({ type }) => {
        if (type === 'deleted') for (const pod of pending()) add(keyOf(pod.metadata));
      });
      stores.nodes.onChange(() => {
        for (const pod of pending()) add(keyOf(pod.metadata));
      });
    },
    reconcile: async (key) => {
      const pod = stores.pods.get(key);
      if (pod === undefined || !isPending(pod) || bound.has(pod.metadata.uid)) return done;
      return await schedule(tools, pod, bound);
    },
  });
}

const isPending = ({ spec, metadata, status }: Pod): boolean =>
  spec?.nodeName === undefined && metadata.deletionTimestamp === undefined && status?.phase === 'Pending';

async function schedule(tools: Tools, pod: Stored<Pod>, bound: Map<string, Pod>): Promise<Outcome> {
  const { stores, client, recorder } = tools;
  const placed = [
    ...stores.pods.all().filter(({ spec, status }) => spec?.nodeName !== undefined && !isOver(status?.phase)),
    ...bound.values(),
  ];
  const nodes = stores.nodes.all();
  const leaving = leavingClaim(tools, pod);
  const place = leaving === undefined ? placeFor(pod, { nodes, pods: placed }) : noPlace(nodes.length, leaving);
  if ('message' in place) {
    await refuse(tools, pod, place.message);
    return done;
  }
  const { namespace = '', name, uid } = pod.metadata;
  const target = { apiVersion: 'v1', kind: 'Node', name: place.node };
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { namespace, name, uid }, target };
  bound.set(uid, { ...pod, spec: { containers: [], ...pod.spec, nodeName: place.node } });
  try {
    await client.create(pods, binding, { subresource: 'binding' });
  } catch (thrown) {
    bound.delete(uid);
    throw thrown;
  }
  const message = `Successfully assigned ${namespace}/${name} to ${place.node}`;
  recorder.record(pod, { type: 'Normal', reason: 'Scheduled', message });
  return done;
}

/** A claim that the pod asks for and that is about to go: it would not be there for long. */
const leavingClaim = ({ stores }: Tools, pod: Pod): string | undefined =>
  claimsOf(pod).find((name) => {
    const claim = stores.claims.get(keyOf({ namespace: pod.metadata.namespace, name }));
    return claim?.metadata.deletionTimestamp !== undefined;
  });

const noPlace = (nodes: number, claim: string): Place => ({
  message: `0/${nodes} nodes are available: persistentvolumeclaim "${claim}" is being deleted.`,
});

const isOver = (phase: string | undefined): boolean => phase === 'Succeeded' || phase === 'Failed';

async function refuse({ client, clock, recorder }: Tools, pod: Stored<Pod>, message: string): Promise<void> {
  const before = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (before?.message === message) return;
  recorder.record(pod, { type: 'Warning', reason: 'FailedScheduling', message });
  const lastTransitionTime = before?.lastTransitionTime ?? timeOf(clock.now());
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastTransitionTime };
  const body = { status: { conditions: [condition] } };
  await client.patch(pods, pod.metadata, { type: 'strategic', body, subresource: 'status' });
}
