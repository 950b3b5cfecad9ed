import { describe, expect, it } from 'vitest';
import { aCarrier, aMember, nameOf } from '../../../test/support/worlds.ts';
import type { Carrier, Member } from '../../core/model/cluster.ts';
import { withLeavers } from './membership.ts';

const [name, id] = [nameOf('db-1'), 1];
const healthOf = (member: Partial<Member>, carrier: Partial<Carrier>): string => {
  const value = { clusterId: 'c', members: [{ ...aMember(name, id), ...member }] };
  const sighting = withLeavers({ seen: true, value }, [{ ...aCarrier(name), ...carrier }]);
  return sighting.seen ? (sighting.value.members[0]?.health ?? '') : '';
};

describe('a member', () => {
  it('that has been told to stop is leaving, however well it answers', () =>
    expect(healthOf({ health: 'healthy' }, { phase: 'stopping' })).toBe('leaving'));
  it('that nobody told to stop is what it says', () =>
    expect(healthOf({ health: 'healthy' }, { phase: 'running' })).toBe('healthy'));
  it('that does not answer is silent, whether it was told to stop or not', () =>
    expect(healthOf({ health: 'silent' }, { phase: 'stopping' })).toBe('silent'));
});
