import { describe, expect, it } from 'vitest';
import { layoutOf } from './layout.ts';

/** The addresses, names and directories that two clusters must not share. */
function ownValues(name: string): readonly string[] {
  const { nodes, ...rest } = layoutOf(name);
  const ofNodes = nodes.flatMap((node) => [node.address, node.podSubnet, node.podGateway]);
  return [...Object.values(rest), ...ofNodes];
}

describe('the layout of a test cluster', () => {
  it('shares no address, name or directory with another cluster', () => {
    const [dev, check] = ['dev', 'check'].map(ownValues);
    expect(dev?.filter((value) => check?.includes(value))).toEqual([]);
  });

  it('keeps the pod subnet of every node inside the pod subnet of the cluster', () => {
    for (const name of ['dev', 'check', 'life', 'another']) {
      const { podSubnet, nodes } = layoutOf(name);
      const third = (subnet: string): number => Number(subnet.split('.')[2]);
      for (const node of nodes) {
        expect(third(node.podSubnet)).toBeGreaterThan(third(podSubnet));
        expect(third(node.podSubnet)).toBeLessThan(third(podSubnet) + 16);
      }
    }
  });

  for (const name of ['', 'Dev', '1st', 'a-name-that-is-too-long', 'a/b', '..']) {
    it(`refuses the name "${name}" and describes valid names`, () => {
      expect(() => layoutOf(name)).toThrow(/cannot be a cluster's name: use up to 12 lower-case letters/);
    });
  }
});
