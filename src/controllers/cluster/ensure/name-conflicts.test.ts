import { describe, expect, it } from 'vitest';
import type { Stored } from '../../../kube/object.ts';
import type { ClusterObject } from '../../shared/context.ts';
import { refusalBeside } from './name-conflicts.ts';

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

  it('is refused if it is younger, with the other API in the message', () => {
    const before = cluster('other.io', '2026-01-01T00:00:04Z');
    expect(refusalBeside(ours, holding(before))).toBe(
      'metadata.name: db is taken by an EtcdCluster of other.io in this namespace: choose another name',
    );
  });

  it('is accepted if it is older or the only one', () => {
    expect(refusalBeside(ours, holding(cluster('other.io', '2026-01-01T00:00:06Z')))).toBeUndefined();
    expect(refusalBeside(ours, holding(undefined))).toBeUndefined();
  });

  it('is refused or its twin is refused, if both have the same age', () => {
    const twin = cluster('other.io', '2026-01-01T00:00:05Z');
    const refused = [refusalBeside(ours, holding(twin)), refusalBeside(twin, holding(ours))];
    expect(refused.filter((refusal) => refusal !== undefined)).toHaveLength(1);
  });
});
