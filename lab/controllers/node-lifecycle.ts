import { isDeepStrictEqual } from 'node:util';
import type { V1Taint } from '@kubernetes/client-node';
import { type Json, keyOf, type Node, type Pod, type Stored } from '../../src/kube/object.ts';
import { nodes, pods } from '../../src/kube/resource.ts';
import type { Runnable } from '../../src/runtime/manager.ts';
import { type Outcome, requeueAfter } from '../../src/runtime/outcome.ts';
import { unless } from '../../src/std/failure.ts';
import { leaseNamespace } from '../kubelet/heartbeat.ts';
import { formatTime } from '../kubelet/pod/status.ts';
import { type ControllerContext, controller, isReady } from './controller.ts';
import { tolerates } from './placement.ts';

type Taint = Json<V1Taint>;

/** The interval at which leases are checked. */
const checkSeconds = 1;
const unreachable = 'node.kubernetes.io/unreachable';
const ours = new Set([unreachable, 'node.kubernetes.io/not-ready']);

/** Marks a node with an expired lease as unreachable, and evicts its pods after the time that each pod tolerates. */
export function nodeLifecycle(context: ControllerContext, graceSeconds: number): Runnable {
  const { stores } = context;
  return controller(context, {
    watch: (add) => {
      stores.nodes.onChange(({ object }) => add(object.metadata.name));
      stores.leases.onChange(({ object }) => add(object.metadata.name));
    },
    reconcile: async (name) => {
      const node = stores.nodes.get(name);
      if (node === undefined) return { is: 'done' };
      const isExpired = secondsSinceRenewal(context, name) > graceSeconds;
      await (isExpired ? markUnreachable(context, node) : clearTaints(context, node));
      return outcome;
    },
  });
}

const outcome: Outcome = requeueAfter(checkSeconds);

function secondsSinceRenewal({ stores, clock }: ControllerContext, name: string): number {
  const renewed = stores.leases.get(keyOf({ namespace: leaseNamespace, name }))?.spec?.renewTime;
  return renewed === undefined ? 0 : (clock.now().getTime() - Date.parse(renewed)) / 1000;
}

async function clearTaints(context: ControllerContext, node: Stored<Node>): Promise<void> {
  if (readyStatus(node) === 'True') await setTaints(context, node, []);
}

async function markUnreachable(context: ControllerContext, node: Stored<Node>): Promise<void> {
  if (readyStatus(node) === 'True') await markUnknown(context, node);
  const since = unreachableSince(node);
  const timeAdded = since ?? formatTime(context.clock.now());
  await setTaints(context, node, [
    { key: unreachable, effect: 'NoSchedule' },
    { key: unreachable, effect: 'NoExecute', timeAdded },
  ]);
  const podsOnNode = context.stores.pods.all().filter(({ spec }) => spec?.nodeName === node.metadata.name);
  for (const pod of podsOnNode) {
    await markUnready(context, pod);
    if (since !== undefined) await evict(context, pod, since);
  }
}

/** The time at which the node was tainted as unreachable. */
function unreachableSince({ spec }: Node): string | undefined {
  const taints = spec?.taints ?? [];
  return taints.find(({ key, effect }) => key === unreachable && effect === 'NoExecute')?.timeAdded;
}

const readyStatus = ({ status }: Node): string | undefined =>
  status?.conditions?.find(({ type }) => type === 'Ready')?.status;

async function markUnknown({ client, clock }: ControllerContext, { metadata, status }: Stored<Node>): Promise<void> {
  const reasonAndMessage = { reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' };
  const lastTransitionTime = formatTime(clock.now());
  const types = status?.conditions?.map(({ type }) => type) ?? [];
  const conditions = types.map((type) => ({ type, status: 'Unknown', ...reasonAndMessage, lastTransitionTime }));
  await client.patch(nodes, metadata, { type: 'strategic', body: { status: { conditions } }, subresource: 'status' });
}

async function setTaints(
  { client }: ControllerContext,
  { metadata, spec }: Stored<Node>,
  wanted: readonly Taint[],
): Promise<void> {
  const present = spec?.taints ?? [];
  const taints = [...present.filter(({ key }) => !ours.has(key)), ...wanted];
  if (isDeepStrictEqual(plain(taints), plain(present))) return;
  await client.patch(nodes, metadata, { type: 'merge', body: { spec: { taints } } });
}

const plain = (taints: readonly Taint[]): unknown => JSON.parse(JSON.stringify(taints));

/** The kubelet no longer reports whether the pod is ready, so the pod counts as unready. */
async function markUnready({ client, clock }: ControllerContext, pod: Stored<Pod>): Promise<void> {
  if (!isReady(pod)) return;
  const change = { status: 'False', reason: 'NodeNotReady', lastTransitionTime: formatTime(clock.now()) };
  const conditions = ['Ready', 'ContainersReady'].map((type) => ({ type, ...change }));
  await ignoreNotFound(
    client.patch(pods, pod.metadata, { type: 'strategic', body: { status: { conditions } }, subresource: 'status' }),
  );
}

async function evict({ client, clock, recorder }: ControllerContext, pod: Stored<Pod>, since: string): Promise<void> {
  if (pod.metadata.deletionTimestamp !== undefined) return;
  const seconds = toleratedSeconds(pod, { key: unreachable, effect: 'NoExecute' });
  if (clock.now().getTime() < Date.parse(since) + seconds * 1000) return;
  recorder.record(pod, {
    type: 'Normal',
    reason: 'TaintManagerEviction',
    message: `Marking for deletion Pod ${keyOf(pod.metadata)}`,
  });
  await ignoreNotFound(client.remove(pods, pod.metadata, { preconditions: { uid: pod.metadata.uid } }));
}

/** The time for which a pod tolerates a taint: none, some seconds or forever. */
export function toleratedSeconds({ spec }: Pod, taint: Taint): number {
  const all = (spec?.tolerations ?? []).filter((toleration) => tolerates(toleration, taint));
  if (all.length === 0) return 0;
  return Math.min(...all.map(({ tolerationSeconds }) => tolerationSeconds ?? Number.POSITIVE_INFINITY));
}

const ignoreNotFound = async (work: Promise<unknown>): Promise<void> =>
  void (await unless('not-found', work, undefined));
