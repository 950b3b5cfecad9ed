import { describe, expect, it } from 'vitest';
import { compareResourceVersions, keyOf, parseKey } from './object.ts';
import { apiVersionOf, collectionPath, leases, namespaced, nodes, objectPath, pods } from './resource.ts';

describe('a path', () => {
  const clusters = namespaced({
    group: 'etcd.example.com',
    version: 'v1',
    plural: 'etcdclusters',
    kind: 'EtcdCluster',
  });

  it('of an object is built from its resource, namespace and name', () => {
    expect(objectPath(pods, { namespace: 'a', name: 'b' })).toBe('/api/v1/namespaces/a/pods/b');
    expect(objectPath(nodes, { name: 'n1' })).toBe('/api/v1/nodes/n1');
    expect(objectPath(clusters, { namespace: 'a', name: 'b' }, 'status')).toBe(
      '/apis/etcd.example.com/v1/namespaces/a/etcdclusters/b/status',
    );
    expect(apiVersionOf(pods)).toBe('v1');
    expect(apiVersionOf(clusters)).toBe('etcd.example.com/v1');
  });

  it('of a collection covers one namespace or all', () => {
    expect(collectionPath(leases, 'a')).toBe('/apis/coordination.k8s.io/v1/namespaces/a/leases');
    expect(collectionPath(leases, undefined)).toBe('/apis/coordination.k8s.io/v1/leases');
    expect(collectionPath(nodes, 'ignored')).toBe('/api/v1/nodes');
  });

  it.each(['', '.', '..'])('of an object never becomes that of a collection: "%s"', (name) => {
    expect(() => objectPath(pods, { namespace: 'a', name })).toThrow('is not a name');
    expect(() => objectPath(pods, { namespace: name, name: 'a' })).toThrow('is not a name');
  });

  it('encodes names, so that a name cannot change it', () => {
    expect(objectPath(pods, { namespace: 'a', name: '../../nodes/x?y' })).toBe(
      '/api/v1/namespaces/a/pods/..%2F..%2Fnodes%2Fx%3Fy',
    );
    expect(() => objectPath(pods, { name: 'a' })).toThrow('pods a: no namespace given');
  });
});

describe('a key', () => {
  it('is namespace/name, and parses back to both', () => {
    for (const at of [{ namespace: 'a', name: 'b' }, { name: 'c' }]) expect(parseKey(keyOf(at))).toEqual(at);
    expect(keyOf({ namespace: 'a', name: 'b' })).toBe('a/b');
  });
});

describe('resourceVersions', () => {
  it('compare as numbers of any length', () => {
    const sorted = ['9', '10', '99', '100', '9007199254740993', '9007199254740994'];
    expect(sorted.toReversed().sort(compareResourceVersions)).toEqual(sorted);
    expect(compareResourceVersions('7', '7')).toBe(0);
  });
});
