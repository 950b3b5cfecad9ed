import { layoutOf } from '../../tools/cluster/layout.ts';
import { cutOff, joinAgain, startNode, stopNode } from '../../tools/cluster/nodes.ts';

/** What a story may do to the nodes of our test cluster. */
export interface Nodes {
  /** The name of our test cluster. */
  readonly cluster: string;
  readonly names: readonly string[];
  readonly stop: (node: string) => Promise<void>;
  readonly start: (node: string) => Promise<void>;
  readonly cutOff: (one: string, other: string) => Promise<void>;
  readonly joinAgain: (one: string, other: string) => Promise<void>;
  /** The API server's audit log. */
  readonly auditLog: string;
}

export function nodesOf(cluster: string | undefined): Nodes {
  if (cluster === undefined) return nobodysNodes;
  const layout = layoutOf(cluster);
  return {
    cluster,
    names: layout.nodes.map((node) => node.name),
    stop: (node) => stopNode(layout, node),
    start: (node) => startNode(layout, node),
    cutOff: (one, other) => cutOff(layout, one, other),
    joinAgain: (one, other) => joinAgain(layout, one, other),
    auditLog: layout.auditLog,
  };
}

const refuse = (): Promise<never> => {
  throw new Error('a story that touches nodes is told by story.onOurCluster');
};

const nobodysNodes: Nodes = {
  cluster: '',
  names: [],
  stop: refuse,
  start: refuse,
  cutOff: refuse,
  joinAgain: refuse,
  auditLog: '',
};
