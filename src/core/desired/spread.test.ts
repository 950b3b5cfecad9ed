import { describe, expect, it } from 'vitest';
import { notCounting } from './spread.ts';

const leaving = { label: 'etcd_node', values: ['db-seed'] };
const labelSelector = { matchLabels: { etcd_cluster: 'db' } };
const zones = { topologyKey: 'zone', labelSelector };
const without = { ...labelSelector, matchExpressions: [{ key: 'etcd_node', operator: 'NotIn', values: ['db-seed'] }] };
const only = { ...labelSelector, matchExpressions: [{ key: 'etcd_node', operator: 'In', values: ['db-seed'] }] };

describe('the spec of a pod that takes the place of another', () => {
  it('demands to be apart from pods that stay, and wishes it of those that leave', () => {
    const spec = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [zones] } } };
    expect(notCounting(spec, leaving)).toEqual({
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

  it('wishes to be apart from pods that leave less than from pods that stay', () => {
    const wish = { weight: 5, podAffinityTerm: zones };
    const spec = { affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [wish] } } };
    expect(notCounting(spec, leaving)).toEqual({
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

  it('is spread over zones as if the others had left', () => {
    const even = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' };
    const spec = { topologySpreadConstraints: [{ ...even, labelSelector }, even], containers: [] };
    expect(notCounting(spec, leaving)).toEqual({
      ...{ topologySpreadConstraints: [{ ...even, labelSelector: without }, even], containers: [] },
    });
  });

  it('keeps everything else of its affinity', () => {
    const affinity = { nodeAffinity: { a: 1 }, podAffinity: { b: [2] } };
    expect(notCounting({ affinity }, leaving)).toEqual({ affinity });
  });
});
