import { expect, it } from 'vitest';
import { referenceOf, versionOf } from './reference.ts';

it('an image reference is split into repository, name and tag', () => {
  expect(referenceOf('quay.io/coreos/etcd:v3.1.10')).toEqual({
    repository: 'quay.io/coreos/etcd',
    name: 'etcd',
    tag: 'v3.1.10',
  });
  expect(referenceOf('localhost:5000/etcd')).toEqual({
    repository: 'localhost:5000/etcd',
    name: 'etcd',
    tag: 'latest',
  });
  expect(referenceOf(`quay.io/coreos/etcd:v3.5.35@sha256:${'0'.repeat(64)}`)).toEqual({
    repository: 'quay.io/coreos/etcd',
    name: 'etcd',
    tag: 'v3.5.35',
  });
  expect(referenceOf('busybox')).toEqual({ repository: 'busybox', name: 'busybox', tag: 'latest' });
});

it('the etcd version is read from a tag', () => {
  expect(['v3.5.21', '3.5.21', '3.5.21-0', 'latest', 'main'].map(versionOf)).toEqual([
    ...['3.5.21', '3.5.21', '3.5.21', 'any'],
    undefined,
  ]);
});
