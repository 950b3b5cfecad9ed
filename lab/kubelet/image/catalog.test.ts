import { expect, it } from 'vitest';
import { etcdEnvironment } from './catalog.ts';

it('etcd gets ETCD_UNSUPPORTED_ARCH on any architecture but amd64', () => {
  expect(etcdEnvironment('arm64')).toEqual({ ETCD_UNSUPPORTED_ARCH: 'arm64' });
  expect(etcdEnvironment('x64')).toEqual({});
});
