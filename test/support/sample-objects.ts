import type { ObjectMeta, Pod, Stored } from '../../src/kube/object.ts';

/** A stored pod with this resourceVersion. */
export function samplePod(name: string, version: number, metadata: Partial<ObjectMeta> = {}): Stored<Pod> {
  const identity = { namespace: 'default', uid: `uid-of-${name}`, creationTimestamp: '2026-01-01T00:00:00Z' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...identity, ...metadata, name, resourceVersion: String(version) },
  };
}
