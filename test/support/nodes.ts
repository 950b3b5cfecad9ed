import { sendControlRequest } from '../../lab/cli/control.ts';
import { layoutOf } from '../../tools/cluster/layout.ts';
import { runningMachine } from '../../tools/cluster/machine.ts';
import { cutOff, rejoin, startNode, stopNode } from '../../tools/cluster/nodes.ts';
import { run } from '../../tools/lib/run.ts';
import { isOnTheLab } from './place.ts';

/** The actions of a story on the nodes of our test cluster. */
export interface Nodes {
  /** The name of our test cluster. */
  readonly cluster: string;
  readonly names: readonly string[];
  readonly stop: (node: string) => Promise<void>;
  readonly start: (node: string) => Promise<void>;
  readonly cutOff: (one: string, other: string) => Promise<void>;
  readonly rejoin: (one: string, other: string) => Promise<void>;
  /** Runs a shell script in the mount namespace of a node. */
  readonly shell: (node: string, script: string) => Promise<string>;
  /** The API server's audit log. */
  readonly auditLog: string;
}

export function nodesOf(cluster: string | undefined): Nodes {
  if (isOnTheLab()) return labNodes(process.env['LAB_STATE'] ?? '');
  if (cluster === undefined) return noNodes;
  const layout = layoutOf(cluster);
  return {
    cluster,
    names: layout.nodes.map((node) => node.name),
    stop: (node) => stopNode(layout, node),
    start: (node) => startNode(layout, node),
    cutOff: (one, other) => cutOff(layout, one, other),
    rejoin: (one, other) => rejoin(layout, one, other),
    shell: (node, script) =>
      run('nsenter', ['-t', String(runningMachine(layout, node)), '-m', '-p', '-r', '--', '/bin/sh', '-ec', script]),
    auditLog: layout.auditLog,
  };
}

const refuse = (): Promise<never> => {
  throw new Error('a story that acts on nodes must be declared with story.withNodes or story.onOurCluster');
};

const noNodes: Nodes = {
  cluster: '',
  names: [],
  stop: refuse,
  start: refuse,
  cutOff: refuse,
  rejoin: refuse,
  shell: refuse,
  auditLog: '',
};

/** Nodes of the lab can only be switched off and on. */
const labNodes = (state: string): Nodes => ({
  ...noNodes,
  names: ['node1', 'node2', 'node3'],
  stop: (node) => sendControlRequest(state, { node, power: 'off' }),
  start: (node) => sendControlRequest(state, { node, power: 'on' }),
});
