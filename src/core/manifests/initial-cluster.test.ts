import { expect, it } from 'vitest';
import { aWorld, nameOf } from '../../../test/support/worlds.ts';
import { initialClusterOf } from './initial-cluster.ts';

it('the initial cluster of a restarting member does not contain its own name, so that etcd without data refuses to start', () => {
  const { peers, state } = initialClusterOf({ as: 'restarting' }, nameOf('db-0'), aWorld().intent);
  expect(state).toBe('existing');
  expect(peers.split(',').map((peer) => peer.split('=')[0])).not.toContain('db-0');
});
