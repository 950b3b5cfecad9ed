import { ask } from '../../src/cli/lab/control.ts';
import { layoutOf } from '../../tools/cluster/layout.ts';
import { runningMachine } from '../../tools/cluster/machine.ts';
import { cutOff, joinAgain, startNode, stopNode } from '../../tools/cluster/nodes.ts';
import { run } from '../../tools/lib/run.ts';
import { isOnTheLab } from './place.ts';

/** What a story may do to the nodes of our test cluster. */
export interface Nodes {
  /** The name of our test cluster. */
  readonly cluster: string;
  readonly names: readonly string[];
  readonly stop: (node: string) => Promise<void>;
  readonly start: (node: string) => Promise<void>;
  readonly cutOff: (one: string, other: string) => Promise<void>;
  readonly joinAgain: (one: string, other: string) => Promise<void>;
  /** Runs a shell script among a node's own files and mounts. */
  readonly shell: (node: string, script: string) => Promise<string>;
  /** The API server's audit log. */
  readonly auditLog: string;
}

export function nodesOf(cluster: string | undefined): Nodes {
  if (isOnTheLab()) return nodesOfTheLab(process.env['LAB_STATE'] ?? '');
  if (cluster === undefined) return nobodysNodes;
  const layout = layoutOf(cluster);
  return {
    cluster,
    names: layout.nodes.map((node) => node.name),
    stop: (node) => stopNode(layout, node),
    start: (node) => startNode(layout, node),
    cutOff: (one, other) => cutOff(layout, one, other),
    joinAgain: (one, other) => joinAgain(layout, one, other),
    shell: (node, script) =>
      run('nsenter', ['-t', String(runningMachine(layout, node)), '-m', '-p', '-r', '--', '/bin/sh', '-ec', script]),
    auditLog: layout.auditLog,
  };
}

const refuse = (): Promise<never> => {
  throw new Error('a story that touches nodes is told by story.withNodes or story.onOurCluster');
};

const nobodysNodes: Nodes = {
  cluster: '',
  names: [],
  stop: refuse,
  start: refuse,
  cutOff: refuse,
  joinAgain: refuse,
  shell: refuse,
  auditLog: '',
};

/** Their plugs can be pulled; for all else there is too little of them. */
const nodesOfTheLab = (state: string): Nodes => ({
  ...nobodysNodes,
  names: ['node1', 'node2', 'node3'],
  stop: (node) => ask(state, { node, power: 'off' }),
  start: (node) => ask(state, { node, power: 'on' }),
});
