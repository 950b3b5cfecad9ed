import { expect, it } from 'vitest';
import type { Kubelet } from './kubelet.ts';
import { streamsOf } from './node-streams.ts';

it('does not speak with containers of a node whose plug is pulled', () => {
  const kubelets = [
    { name: 'node1', isStopped: false },
    { name: 'node2', isStopped: true },
  ] as unknown as readonly Kubelet[];
  const ways = streamsOf({ kubelets, dial: () => Promise.reject(new Error('nobody dials')) });
  expect(ways('node1')).toBeDefined();
  expect(ways('node2')).toBeUndefined();
  expect(ways('node3')).toBeUndefined();
});
