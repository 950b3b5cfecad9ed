import { describe, expect, it } from 'vitest';
import type { Node, Pod } from '../../src/kube/object.ts';
import { chooseNode } from './placement.ts';

const node = (name: string, spec: Node['spec'] = {}, ready = 'True'): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'kubernetes.io/hostname': name } },
  spec,
  status: { conditions: [{ type: 'Ready', status: ready }] },
});
const nodes = [node('a'), node('b'), node('c')];
const pod = (nodeName?: string, spec: object = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'n', labels: { app: 'etcd' } },
  spec: { containers: [], ...(nodeName === undefined ? {} : { nodeName }), ...spec },
});
const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'etcd' } } };
const rule = 'DuringSchedulingIgnoredDuringExecution';
const apart = { affinity: { podAntiAffinity: { [`required${rule}`]: [term] } } };
const preferredApart = {
  affinity: { podAntiAffinity: { [`preferred${rule}`]: [{ weight: 100, podAffinityTerm: term }] } },
};

describe('the scheduler', () => {
  it('chooses the node with the fewest pods', () => {
    expect(chooseNode(pod(), { nodes, pods: [pod('a'), pod('b')] })).toEqual({ node: 'c' });
  });

  it('obeys required anti-affinity, and reports when no node is left', () => {
    expect(chooseNode(pod(undefined, apart), { nodes, pods: [pod('a'), pod('c')] })).toEqual({ node: 'b' });
    expect(chooseNode(pod(undefined, apart), { nodes, pods: nodes.map(({ metadata }) => pod(metadata.name)) })).toEqual(
      {
        message: "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules.",
      },
    );
  });

  it('ignores required anti-affinity on nodes without the topology label', () => {
    const racks = { ...term, topologyKey: 'example.com/rack' };
    const inRacks = { affinity: { podAntiAffinity: { [`required${rule}`]: [racks] } } };
    expect(chooseNode(pod(undefined, inRacks), { nodes, pods: [pod('a')] })).toEqual({ node: 'b' });
  });

  it('obeys preferred anti-affinity if it can', () => {
    const others = [1, 2, 3].map(() => ({ ...pod('b'), metadata: { name: 'x', namespace: 'n' } }));
    const two = [node('a'), node('b')];
    expect(chooseNode(pod(undefined, preferredApart), { nodes: two, pods: [pod('a'), ...others] })).toEqual({
      node: 'b',
    });
    expect(chooseNode(pod(undefined, preferredApart), { nodes: [node('a')], pods: [pod('a')] })).toEqual({ node: 'a' });
  });

  it('skips nodes that are not ready, unschedulable, tainted or not selected', () => {
    const taint = { key: 'k', effect: 'NoSchedule' };
    const some = [node('a', {}, 'Unknown'), node('b', { unschedulable: true }), node('c', { taints: [taint] })];
    expect(chooseNode(pod(), { nodes: some, pods: [] })).toMatchObject({
      message: expect.stringMatching(/^0\/3 nodes are available: /) as string,
    });
    const tolerant = pod(undefined, { tolerations: [{ key: 'k', operator: 'Exists' }] });
    expect(chooseNode(tolerant, { nodes: some, pods: [] })).toEqual({ node: 'c' });
    const selective = pod(undefined, { nodeSelector: { 'kubernetes.io/hostname': 'b' } });
    expect(chooseNode(selective, { nodes, pods: [] })).toEqual({ node: 'b' });
  });
});
