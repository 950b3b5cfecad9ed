import { keyOf, type Pod, type Stored } from '../../src/kube/object.ts';
import { pods } from '../../src/kube/resource.ts';
import type { Runnable } from '../../src/runtime/manager.ts';
import { done, type Outcome } from '../../src/runtime/outcome.ts';
import { formatTime } from '../kubelet/pod/status.ts';
import { type ControllerContext, claimsOf, controller } from './controller.ts';
import { chooseNode, type Placement } from './placement.ts';

/** Assigns pods to nodes. */
export function scheduler(context: ControllerContext): Runnable {
  const { stores } = context;
  /** Assigned pods that the cache does not show as assigned yet; the next choice must count them. */
  const bound = new Map<string, Pod>();
  const pending = (): readonly Stored<Pod>[] => stores.pods.all().filter(isPending);
  return controller(context, {
    workers: 1,
    watch: (add) => {
      stores.pods.onChange(({ object, type }) => {
        bound.delete(object.metadata.uid);
        if (isPending(object)) add(keyOf(object.metadata));
        // A deleted pod frees room, or a node from an anti-affinity rule.
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
      return await schedule(context, pod, bound);
    },
  });
}

const isPending = ({ spec, metadata, status }: Pod): boolean =>
  spec?.nodeName === undefined && metadata.deletionTimestamp === undefined && status?.phase === 'Pending';

async function schedule(context: ControllerContext, pod: Stored<Pod>, bound: Map<string, Pod>): Promise<Outcome> {
  const { stores, client, recorder } = context;
  const assigned = [
    ...stores.pods.all().filter(({ spec, status }) => spec?.nodeName !== undefined && !hasFinished(status?.phase)),
    ...bound.values(),
  ];
  const nodes = stores.nodes.all();
  const deletedPvc = pvcUnderDeletion(context, pod);
  const placement =
    deletedPvc === undefined ? chooseNode(pod, { nodes, pods: assigned }) : pvcRefusal(nodes.length, deletedPvc);
  if ('message' in placement) {
    await reportUnschedulable(context, pod, placement.message);
    return done;
  }
  const { namespace = '', name, uid } = pod.metadata;
  const target = { apiVersion: 'v1', kind: 'Node', name: placement.node };
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { namespace, name, uid }, target };
  bound.set(uid, { ...pod, spec: { containers: [], ...pod.spec, nodeName: placement.node } });
  try {
    await client.create(pods, binding, { subresource: 'binding' });
  } catch (thrown) {
    bound.delete(uid);
    throw thrown;
  }
  const message = `Successfully assigned ${namespace}/${name} to ${placement.node}`;
  recorder.record(pod, { type: 'Normal', reason: 'Scheduled', message });
  return done;
}

/** The name of a PVC of the pod that is being deleted; a pod with one cannot be scheduled. */
const pvcUnderDeletion = ({ stores }: ControllerContext, pod: Pod): string | undefined =>
  claimsOf(pod).find((name) => {
    const claim = stores.claims.get(keyOf({ namespace: pod.metadata.namespace, name }));
    return claim?.metadata.deletionTimestamp !== undefined;
  });

const pvcRefusal = (nodes: number, pvc: string): Placement => ({
  message: `0/${nodes} nodes are available: persistentvolumeclaim "${pvc}" is being deleted.`,
});

const hasFinished = (phase: string | undefined): boolean => phase === 'Succeeded' || phase === 'Failed';

async function reportUnschedulable(
  { client, clock, recorder }: ControllerContext,
  pod: Stored<Pod>,
  message: string,
): Promise<void> {
  const before = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (before?.message === message) return;
  recorder.record(pod, { type: 'Warning', reason: 'FailedScheduling', message });
  const lastTransitionTime = before?.lastTransitionTime ?? formatTime(clock.now());
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastTransitionTime };
  const body = { status: { conditions: [condition] } };
  await client.patch(pods, pod.metadata, { type: 'strategic', body, subresource: 'status' });
}
