import { expect, it } from 'vitest';
import { etcdEnvironment } from './catalog.ts';

it('lets old etcds start on machines that they were not tried on', () => {
  expect(etcdEnvironment('arm64')).toEqual({ ETCD_UNSUPPORTED_ARCH: 'arm64' });
  expect(etcdEnvironment('x64')).toEqual({});
});
