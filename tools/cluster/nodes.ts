import { Complaint } from '../lib/main.ts';
import { removeCgroup } from './cgroups.ts';
import { kubectl } from './kubectl.ts';
import { type Layout, type Node } from './layout.ts';
import { runningMachine, runningSwitch, startMachine, stopMachine } from './machine.ts';
import { connectMachine, cut, mend } from './network.ts';

/** Switches a machine on: cables first, then it boots from its own disk. */
export async function switchOn(layout: Layout, name: string, address: string): Promise<void> {
  const switchPid = runningSwitch(layout);
  if (switchPid === undefined) throw new Complaint(`Cluster "${layout.name}" is not up: make cluster starts it.`);
  await removeCgroup(`${layout.link}/${name}`); // a computer that was switched off has no memory of its last processes
  const { pid, boot } = await startMachine(layout, name);
  await connectMachine(switchPid, { port: name, address, pid });
  boot();
}

/** Pulls a node's plug. Kubernetes notices after about 20 s; what the node's disk held is there when it starts again. */
export async function stopNode(layout: Layout, name: string): Promise<void> {
  await stopMachine(layout, nodeNamed(layout, name).name);
}

/** Switches a node on again and waits until it is Ready; a node that runs is left alone. */
export async function startNode(layout: Layout, name: string): Promise<void> {
  const node = nodeNamed(layout, name);
  if (runningMachine(layout, name) === undefined) await switchOn(layout, name, node.address);
  await kubectl(layout, ['wait', `node/${name}`, '--for=condition=Ready', '--timeout=60s']);
}

/** Cuts two nodes off from each other, pods included; both still reach everybody else. */
export async function cutOff(layout: Layout, one: string, other: string): Promise<void> {
  await onBothEnds(layout, [one, other], cut);
}

/** Joins two nodes again. */
export async function joinAgain(layout: Layout, one: string, other: string): Promise<void> {
  await onBothEnds(layout, [one, other], mend);
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
  throw new Complaint(`There is no node "${name}": the nodes are ${layout.nodes.map((each) => each.name).join(', ')}.`);
}
