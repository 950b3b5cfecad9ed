import { expect, it } from 'vitest';
import type { Kubelet } from './kubelet.ts';
import { streamsOf } from './node-streams.ts';

it('a stopped node has no streams', () => {
  const kubelets = [
    { name: 'node1', isStopped: false },
    { name: 'node2', isStopped: true },
  ] as unknown as readonly Kubelet[];
  const streams = streamsOf({ kubelets, dial: () => Promise.reject(new Error('not dialled')) });
  expect(streams('node1')).toBeDefined();
  expect(streams('node2')).toBeUndefined();
  expect(streams('node3')).toBeUndefined();
});
