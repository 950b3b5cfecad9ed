import { isDeepStrictEqual } from 'node:util';
import type { V1Taint } from '@kubernetes/client-node';
import { type Json, keyOf, type Node, type Pod, type Stored } from '../../kube/object.ts';
import { nodes, pods } from '../../kube/resource.ts';
import type { Runnable } from '../../runtime/manager.ts';
import { again, type Outcome } from '../../runtime/outcome.ts';
import { unless } from '../../std/failure.ts';
import { leaseNamespace } from '../node/heartbeat.ts';
import { timeOf } from '../node/pod/status.ts';
import { controller, isReady, type Tools } from './controller.ts';
import { tolerates } from './place.ts';

type Taint = Json<V1Taint>;

/** How often it is looked whether a node has fallen silent. */
const lookSeconds = 1;
const unreachable = 'node.kubernetes.io/unreachable';
const ours = new Set([unreachable, 'node.kubernetes.io/not-ready']);

/** Gives up nodes that fall silent: marks them, and after the time that each pod tolerates, evicts what was there. */
export function nodeLifecycle(tools: Tools, graceSeconds: number): Runnable {
  const { stores } = tools;
  return controller(tools, {
    watch: (add) => {
      stores.nodes.onChange(({ object }) => add(object.metadata.name));
      stores.leases.onChange(({ object }) => add(object.metadata.name));
    },
    reconcile: async (name) => {
      const node = stores.nodes.get(name);
      if (node === undefined) return { is: 'done' };
      const isSilent = silenceOf(tools, name) > graceSeconds;
      await (isSilent ? giveUp(tools, node) : welcome(tools, node));
      return outcome;
    },
  });
}

const outcome: Outcome = again(lookSeconds);

function silenceOf({ stores, clock }: Tools, name: string): number {
  const renewed = stores.leases.get(keyOf({ namespace: leaseNamespace, name }))?.spec?.renewTime;
  return renewed === undefined ? 0 : (clock.now().getTime() - Date.parse(renewed)) / 1000;
}

async function welcome(tools: Tools, node: Stored<Node>): Promise<void> {
  if (readyStatus(node) === 'True') await setTaints(tools, node, []);
}

async function giveUp(tools: Tools, node: Stored<Node>): Promise<void> {
  if (readyStatus(node) === 'True') await markUnknown(tools, node);
  const since = unreachableSince(node);
  const timeAdded = since ?? timeOf(tools.clock.now());
  await setTaints(tools, node, [
    { key: unreachable, effect: 'NoSchedule' },
    { key: unreachable, effect: 'NoExecute', timeAdded },
  ]);
  const there = tools.stores.pods.all().filter(({ spec }) => spec?.nodeName === node.metadata.name);
  for (const pod of there) {
    await markUnready(tools, pod);
    if (since !== undefined) await evict(tools, pod, since);
  }
}

/** Since when the node has been given up; not yet, if the taint is not there. */
function unreachableSince({ spec }: Node): string | undefined {
  const taints = spec?.taints ?? [];
  return taints.find(({ key, effect }) => key === unreachable && effect === 'NoExecute')?.timeAdded;
}

const readyStatus = ({ status }: Node): string | undefined =>
  status?.conditions?.find(({ type }) => type === 'Ready')?.status;

async function markUnknown({ client, clock }: Tools, { metadata, status }: Stored<Node>): Promise<void> {
  const told = { reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' };
  const lastTransitionTime = timeOf(clock.now());
  const types = status?.conditions?.map(({ type }) => type) ?? [];
  const conditions = types.map((type) => ({ type, status: 'Unknown', ...told, lastTransitionTime }));
  await client.patch(nodes, metadata, { type: 'strategic', body: { status: { conditions } }, subresource: 'status' });
}

async function setTaints({ client }: Tools, { metadata, spec }: Stored<Node>, wanted: readonly Taint[]): Promise<void> {
  const present = spec?.taints ?? [];
  const taints = [...present.filter(({ key }) => !ours.has(key)), ...wanted];
  if (isDeepStrictEqual(plain(taints), plain(present))) return;
  await client.patch(nodes, metadata, { type: 'merge', body: { spec: { taints } } });
}

const plain = (taints: readonly Taint[]): unknown => JSON.parse(JSON.stringify(taints));

/** Nobody can say whether the pod still serves, so it does not count as if it did. */
async function markUnready({ client, clock }: Tools, pod: Stored<Pod>): Promise<void> {
  if (!isReady(pod)) return;
  const change = { status: 'False', reason: 'NodeNotReady', lastTransitionTime: timeOf(clock.now()) };
  const conditions = ['Ready', 'ContainersReady'].map((type) => ({ type, ...change }));
  await patched(
    client.patch(pods, pod.metadata, { type: 'strategic', body: { status: { conditions } }, subresource: 'status' }),
  );
}

async function evict({ client, clock, recorder }: Tools, pod: Stored<Pod>, since: string): Promise<void> {
  if (pod.metadata.deletionTimestamp !== undefined) return;
  const seconds = toleratedSeconds(pod, { key: unreachable, effect: 'NoExecute' });
  if (clock.now().getTime() < Date.parse(since) + seconds * 1000) return;
  recorder.record(pod, {
    type: 'Normal',
    reason: 'TaintManagerEviction',
    message: `Marking for deletion Pod ${keyOf(pod.metadata)}`,
  });
  await patched(client.remove(pods, pod.metadata, { preconditions: { uid: pod.metadata.uid } }));
}

/** How long a pod puts up with a taint: not at all, for a time, or for ever. */
export function toleratedSeconds({ spec }: Pod, taint: Taint): number {
  const all = (spec?.tolerations ?? []).filter((toleration) => tolerates(toleration, taint));
  if (all.length === 0) return 0;
  return Math.min(...all.map(({ tolerationSeconds }) => tolerationSeconds ?? Number.POSITIVE_INFINITY));
}

const patched = async (work: Promise<unknown>): Promise<void> => void (await unless('not-found', work, undefined));
