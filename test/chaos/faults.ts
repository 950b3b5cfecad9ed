import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { pods } from '../../src/kube/resource.ts';
import { patch, podsOf, remove } from '../support/api.ts';
import type { DeclaredCluster } from '../support/cluster.ts';
import { theClient } from '../support/kube-client.ts';
import type { StoryContext } from '../support/story.ts';
import { dataOf, etcdOfMember, operatorsIn, signalAll } from './host-processes.ts';
import type { PlannedFault } from './plan.ts';

export interface Scene {
  readonly context: StoryContext;
  readonly db: DeclaredCluster;
  /** Aborts at the end of the run: faults that last end at once. */
  readonly signal: AbortSignal;
}

/** Causes a fault, and ends it after its time. Returns what it acted on; undefined if there was nothing to act on. */
export async function cause(fault: PlannedFault, scene: Scene): Promise<string | undefined> {
  switch (fault.kind) {
    case 'delete-pod':
      return onMember(fault, scene, (member) => deletePod(scene, member));
    case 'delete-pvc':
      return onMember(fault, scene, (member) => deletePvc(scene, member));
    case 'empty-volume':
      return onMember(fault, scene, async (member) => emptyVolume(etcdOf(scene, member)));
    case 'kill-member':
      return onMember(fault, scene, async (member) => signalAll(etcdOf(scene, member), 'SIGKILL') > 0);
    case 'freeze-member':
      return onMember(fault, scene, (member) => freeze(fault, scene, etcdOf(scene, member)));
    case 'slow-member':
      return onMember(fault, scene, (member) => slow(fault, scene, member));
    case 'kill-operator':
      return killOperators(scene);
    case 'double-operator':
      return doubleOperator(fault, scene);
    case 'suspend-operator':
      return suspendOperator(fault, scene);
    case 'stop-node':
      return stopNode(fault, scene);
    case 'cut-nodes':
      return cutNodes(fault, scene);
    default:
      return fault.kind satisfies never;
  }
}

const pause = (millis: number, { signal }: Scene): Promise<void> =>
  sleep(millis, undefined, { signal }).catch(() => undefined);

const etcdOf = ({ context }: Scene, member: string): readonly number[] => etcdOfMember(context.namespace, member);

/** Acts on a member pod that is not terminating. */
async function onMember(
  { target }: PlannedFault,
  { context, db }: Scene,
  act: (member: string) => Promise<boolean>,
): Promise<string | undefined> {
  const all = await podsOf(context.kubectl, db.label);
  const names = all
    .filter(({ metadata, status }) => metadata.deletionTimestamp === undefined && status?.phase === 'Running')
    .map(({ metadata }) => metadata.name)
    .toSorted();
  const member = names[target % Math.max(1, names.length)];
  return member !== undefined && (await act(member)) ? member : undefined;
}

async function deletePod({ context }: Scene, member: string): Promise<boolean> {
  await remove(context.kubectl, `pod/${member}`);
  return true;
}

/** A PVC stays as long as a pod mounts it, so its pod is deleted too. */
async function deletePvc({ context }: Scene, member: string): Promise<boolean> {
  const { kubectl, namespace } = context;
  const { spec } = await (await theClient()).get(pods, { namespace, name: member });
  const claim = spec?.volumes?.find(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined);
  const name = claim?.persistentVolumeClaim?.claimName;
  if (name === undefined) return false;
  await remove(kubectl, `pvc/${name}`);
  await remove(kubectl, `pod/${member}`);
  return true;
}

/** Deletes the data of a member, and kills its etcd: the container restarts in its pod, on an empty volume. */
function emptyVolume(pids: readonly number[]): boolean {
  for (const pid of pids) rmSync(dataOf(pid), { recursive: true, force: true });
  return signalAll(pids, 'SIGKILL') > 0;
}

async function freeze({ forMillis }: PlannedFault, scene: Scene, pids: readonly number[]): Promise<boolean> {
  try {
    if (signalAll(pids, 'SIGSTOP') === 0) return false;
    await pause(forMillis, scene);
  } finally {
    signalAll(pids, 'SIGCONT');
  }
  return true;
}

/** Runs a member for a fifth of the time only: it answers and writes to its disk late. */
async function slow({ forMillis }: PlannedFault, scene: Scene, member: string): Promise<boolean> {
  const end = performance.now() + forMillis;
  let reached = false;
  while (performance.now() < end && !scene.signal.aborted) {
    const isStopped = await freeze({ ...noFault, forMillis: 200 }, scene, etcdOf(scene, member));
    if (!isStopped) break;
    reached = true;
    await pause(50, scene);
  }
  return reached;
}

const noFault: PlannedFault = { kind: 'freeze-member', afterMillis: 0, forMillis: 0, target: 0 };

async function killOperators({ context }: Scene): Promise<string | undefined> {
  const killed = signalAll(operatorsIn(context.namespace), 'SIGKILL');
  return killed > 0 ? 'the operator' : undefined;
}

const operatorDeployment = 'deployment/etcd-operator';

async function doubleOperator({ forMillis }: PlannedFault, scene: Scene): Promise<string> {
  const { kubectl } = scene.context;
  await patch(kubectl, operatorDeployment, { spec: { replicas: 2 } });
  try {
    await pause(forMillis, scene);
  } finally {
    await patch(kubectl, operatorDeployment, { spec: { replicas: 1 } });
  }
  return 'two operators';
}

/** Suspends the operators for longer than their lease lasts. Its renewal after that must fail, or find the lease free. */
async function suspendOperator({ forMillis }: PlannedFault, scene: Scene): Promise<string | undefined> {
  const suspended = { ...noFault, forMillis: leaseMillis + forMillis };
  const isDone = await freeze(suspended, scene, operatorsIn(scene.context.namespace));
  return isDone ? 'the operator' : undefined;
}

const leaseMillis = 15_000;

async function stopNode({ forMillis, target }: PlannedFault, scene: Scene): Promise<string | undefined> {
  const { nodes } = scene.context;
  const node = nodes.names[target % Math.max(1, nodes.names.length)];
  if (node === undefined) return undefined;
  await nodes.stop(node);
  try {
    await pause(forMillis, scene);
  } finally {
    await nodes.start(node);
  }
  return node;
}

async function cutNodes({ forMillis, target }: PlannedFault, scene: Scene): Promise<string | undefined> {
  const { nodes } = scene.context;
  const [one, other] = [nodes.names[target % 3], nodes.names[(target + 1) % 3]];
  if (one === undefined || other === undefined) return undefined;
  await nodes.cutOff(one, other);
  try {
    await pause(forMillis, scene);
  } finally {
    await nodes.rejoin(one, other);
  }
  return `${one} and ${other}`;
}
