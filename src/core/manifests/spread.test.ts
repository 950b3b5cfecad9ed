import { describe, expect, it } from 'vitest';
import { ignoringPods } from './spread.ts';

const leaving = { label: 'etcd_node', values: ['db-seed'] };
const labelSelector = { matchLabels: { etcd_cluster: 'db' } };
const zones = { topologyKey: 'zone', labelSelector };
const without = { ...labelSelector, matchExpressions: [{ key: 'etcd_node', operator: 'NotIn', values: ['db-seed'] }] };
const only = { ...labelSelector, matchExpressions: [{ key: 'etcd_node', operator: 'In', values: ['db-seed'] }] };

describe('the spec of a replacement pod', () => {
  it('requires anti-affinity to remaining pods, and prefers it to leaving pods', () => {
    const spec = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [zones] } } };
    expect(ignoringPods(spec, leaving)).toEqual({
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ ...zones, labelSelector: without }],
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 10, podAffinityTerm: { ...zones, labelSelector: only } },
          ],
        },
      },
    });
  });

  it('prefers anti-affinity to leaving pods with a lower weight', () => {
    const wish = { weight: 5, podAffinityTerm: zones };
    const spec = { affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [wish] } } };
    expect(ignoringPods(spec, leaving)).toEqual({
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 5, podAffinityTerm: { ...zones, labelSelector: without } },
            { weight: 1, podAffinityTerm: { ...zones, labelSelector: only } },
          ],
        },
      },
    });
  });

  it('is spread over zones without the leaving pods', () => {
    const even = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' };
    const spec = { topologySpreadConstraints: [{ ...even, labelSelector }, even], containers: [] };
    expect(ignoringPods(spec, leaving)).toEqual({
      ...{ topologySpreadConstraints: [{ ...even, labelSelector: without }, even], containers: [] },
    });
  });

  it('keeps all other affinity terms', () => {
    const affinity = { nodeAffinity: { a: 1 }, podAffinity: { b: [2] } };
    expect(ignoringPods({ affinity }, leaving)).toEqual({ affinity });
  });
});
