import { expect, it } from 'vitest';
import { aWorld, nameOf } from '../../../test/support/worlds.ts';
import { initialClusterOf } from './initial-cluster.ts';

it('a restarting member without its data refuses to start: it is not new, and its own name is not in its list', () => {
  const { peers, state } = initialClusterOf({ as: 'returner' }, nameOf('db-0'), aWorld().intent);
  expect(state).toBe('existing');
  expect(peers.split(',').map((peer) => peer.split('=')[0])).not.toContain('db-0');
});
