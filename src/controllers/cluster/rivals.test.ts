import { describe, expect, it } from 'vitest';
import type { Stored } from '../../kube/object.ts';
import { refusalBeside } from './rivals.ts';
import type { ClusterObject } from './sources.ts';

const cluster = (group: string, creationTimestamp: string): Stored<ClusterObject> => ({
  apiVersion: `${group}/v1`,
  kind: 'EtcdCluster',
  metadata: { name: 'db', namespace: 'foo', uid: group, resourceVersion: '1', creationTimestamp },
});
const holding = (there: Stored<ClusterObject> | undefined) => [
  { group: 'other.io', store: { get: (key: string) => (key === 'foo/db' ? there : undefined) } },
];

describe('a cluster whose name another API uses in its namespace', () => {
  const ours = cluster('ours.io', '2026-01-01T00:00:05Z');

  it('is refused if it came later, and is told by whom the name is taken', () => {
    const before = cluster('other.io', '2026-01-01T00:00:04Z');
    expect(refusalBeside(ours, holding(before))).toBe(
      'metadata.name: db is taken by an EtcdCluster of other.io in this namespace: choose another name',
    );
  });

  it('has it if it came first, or if nobody else has', () => {
    expect(refusalBeside(ours, holding(cluster('other.io', '2026-01-01T00:00:06Z')))).toBeUndefined();
    expect(refusalBeside(ours, holding(undefined))).toBeUndefined();
  });

  it('is refused together with nobody: of two that came at once, one has it', () => {
    const twin = cluster('other.io', '2026-01-01T00:00:05Z');
    const refused = [refusalBeside(ours, holding(twin)), refusalBeside(twin, holding(ours))];
    expect(refused.filter((says) => says !== undefined)).toHaveLength(1);
  });
});
