import { describe, expect, it } from 'vitest';
import { nameOf } from '../../../test/support/worlds.ts';
import type { Memory } from './cluster.ts';
import { type FoundDisk, isStrangers, recalled } from './kept-disks.ts';

const nothing: Memory = { bootstrap: undefined, clusterId: undefined, voters: [], version: undefined };
const three = ['db-0', 'db-1', 'db-2'].map(nameOf);
const disk = (name: string, clusterId?: string, members = three): FoundDisk => ({
  name: nameOf(name),
  mark: clusterId === undefined ? undefined : { clusterId, members },
  isOurs: false,
});

describe('a cluster that is declared over disks that were left', () => {
  it('is the one that they are of', () => {
    const memory = recalled(nothing, [disk('db-0', 'c1'), disk('db-1', 'c1'), disk('db-2')]);
    expect(memory).toEqual({ ...nothing, clusterId: 'c1', voters: three });
  });

  it('is a new one where they say nothing', () => {
    expect(recalled(nothing, [disk('db-0'), disk('db-1')])).toBe(nothing);
    expect(recalled(nothing, [])).toBe(nothing);
  });

  it('is neither where they are of several', () => {
    const { clusterId, doubt } = recalled(nothing, [disk('db-0', 'c1'), disk('db-1', 'c2')]);
    expect(clusterId).toBeUndefined();
    expect(doubt).toMatch(/^the volume of db-0 is of cluster c1, that of db-1 of cluster c2: delete the claims/);
  });

  it('has the members that most of them know of, and among equals the larger number', () => {
    const two = three.slice(0, 2);
    const votersIn = (...disks: FoundDisk[]) => recalled(nothing, disks).voters;
    expect(votersIn(disk('db-0', 'c1', two), disk('db-1', 'c1', two), disk('db-2', 'c1'))).toEqual(two);
    expect(votersIn(disk('db-0', 'c1', two), disk('db-2', 'c1'))).toEqual(three);
  });

  it('believes what it remembers itself more than any disk', () => {
    const memory = { ...nothing, clusterId: 'c0', voters: [nameOf('db-7')] };
    expect(recalled(memory, [disk('db-0', 'c1')])).toEqual(memory);
  });

  it('knows its members by them until a majority has answered', () => {
    const memory = { ...nothing, clusterId: 'c1' };
    expect(recalled(memory, [disk('db-0', 'c1')])).toEqual({ ...memory, voters: three });
    expect(recalled(memory, [disk('db-0', 'c2')])).toEqual(memory);
  });
});

describe('a disk under a name that a member might have', () => {
  const memory = { clusterId: 'c1', voters: three };

  it('never was of this cluster where it says that it is of another, or says nothing and we have not made it', () => {
    expect(isStrangers(disk('db-3', 'c2'), memory)).toBe(true);
    expect(isStrangers(disk('db-3'), memory)).toBe(true);
    expect(isStrangers({ ...disk('db-3', 'c2'), isOurs: true }, memory)).toBe(true);
  });

  it('was where it says so, where we have made it, and where a voter has its name', () => {
    expect(isStrangers(disk('db-3', 'c1'), memory)).toBe(false);
    expect(isStrangers({ ...disk('db-3'), isOurs: true }, memory)).toBe(false);
    expect(isStrangers(disk('db-2', 'c2'), memory)).toBe(false);
  });

  it('cannot be judged before the cluster has formed', () => {
    expect(isStrangers(disk('db-3', 'c2'), nothing)).toBe(false);
  });
});
