import { UserError } from '../lib/main.ts';
import { removeCgroup } from './cgroups.ts';
import { kubectl } from './kubectl.ts';
import { type Layout, type Node } from './layout.ts';
import { runningMachine, runningSwitch, startMachine, stopMachine } from './machine.ts';
import { connectMachine, cut, reconnect } from './network.ts';

/** Starts a machine: connects its network, then boots it from its own files. */
export async function switchOn(layout: Layout, name: string, address: string): Promise<void> {
  const switchPid = runningSwitch(layout);
  if (switchPid === undefined) throw new UserError(`Cluster "${layout.name}" is not up: start it with make cluster.`);
  await removeCgroup(`${layout.link}/${name}`); // removes the cgroups of its last run
  const { pid, boot } = await startMachine(layout, name);
  await connectMachine(switchPid, { port: name, address, pid });
  boot();
}

/** Powers a node off. Kubernetes notices after about 20 s. The node's files stay. */
export async function stopNode(layout: Layout, name: string): Promise<void> {
  await stopMachine(layout, nodeNamed(layout, name).name);
}

/** Starts a stopped node and waits until it is Ready. A running node is not touched. */
export async function startNode(layout: Layout, name: string): Promise<void> {
  const node = nodeNamed(layout, name);
  if (runningMachine(layout, name) === undefined) await switchOn(layout, name, node.address);
  await kubectl(layout, ['wait', `node/${name}`, '--for=condition=Ready', '--timeout=60s']);
}

/** Cuts the network between two nodes, pods included. Both still reach all others. */
export async function cutOff(layout: Layout, one: string, other: string): Promise<void> {
  await onBothEnds(layout, [one, other], cut);
}

/** Restores the network between two nodes. */
export async function rejoin(layout: Layout, one: string, other: string): Promise<void> {
  await onBothEnds(layout, [one, other], reconnect);
}

async function onBothEnds(
  layout: Layout,
  [one, other]: readonly [string, string],
  change: (end: { readonly pid: number }, far: Node) => Promise<void>,
): Promise<void> {
  for (const [near, far] of [[one, other] as const, [other, one] as const]) {
    const pid = runningMachine(layout, nodeNamed(layout, near).name);
    if (pid !== undefined) await change({ pid }, nodeNamed(layout, far));
  }
}

function nodeNamed(layout: Layout, name: string): Node {
  const node = layout.nodes.find((candidate) => candidate.name === name);
  if (node !== undefined) return node;
  throw new UserError(`No node "${name}": the nodes are ${layout.nodes.map((each) => each.name).join(', ')}.`);
}
