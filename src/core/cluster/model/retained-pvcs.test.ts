import { describe, expect, it } from 'vitest';
import { nameOf } from '../../../../test/support/worlds.ts';
import type { Memory } from './cluster.ts';
import { belongsToAnother, type FoundVolume, memoryFromVolumes } from './retained-pvcs.ts';

const nothing: Memory = { bootstrap: undefined, clusterId: undefined, voters: [], version: undefined };
const three = ['db-0', 'db-1', 'db-2'].map(nameOf);
const volume = (name: string, clusterId?: string, members = three): FoundVolume => ({
  name: nameOf(name),
  record: clusterId === undefined ? undefined : { clusterId, members },
  isOurs: false,
});

describe('a new EtcdCluster with retained PVCs', () => {
  it('continues the cluster that the PVCs record', () => {
    const memory = memoryFromVolumes(nothing, [volume('db-0', 'c1'), volume('db-1', 'c1'), volume('db-2')]);
    expect(memory).toEqual({ ...nothing, clusterId: 'c1', voters: three });
  });

  it('is a new cluster if the PVCs have no record', () => {
    expect(memoryFromVolumes(nothing, [volume('db-0'), volume('db-1')])).toBe(nothing);
    expect(memoryFromVolumes(nothing, [])).toBe(nothing);
  });

  it('waits for the user if the PVCs belong to several clusters', () => {
    const { clusterId, ambiguity } = memoryFromVolumes(nothing, [volume('db-0', 'c1'), volume('db-1', 'c2')]);
    expect(clusterId).toBeUndefined();
    expect(ambiguity).toMatch(
      /^PVC of db-0 belongs to etcd cluster c1, PVC of db-1 to etcd cluster c2: delete the PVCs/,
    );
  });

  it('has the voters that most PVCs record, and on a tie the longer list', () => {
    const two = three.slice(0, 2);
    const votersIn = (...volumes: FoundVolume[]) => memoryFromVolumes(nothing, volumes).voters;
    expect(votersIn(volume('db-0', 'c1', two), volume('db-1', 'c1', two), volume('db-2', 'c1'))).toEqual(two);
    expect(votersIn(volume('db-0', 'c1', two), volume('db-2', 'c1'))).toEqual(three);
  });

  it('keeps the memory in its status over any PVC', () => {
    const memory = { ...nothing, clusterId: 'c0', voters: [nameOf('db-7')] };
    expect(memoryFromVolumes(memory, [volume('db-0', 'c1')])).toEqual(memory);
  });

  it('takes its voters from the PVCs until a majority has answered', () => {
    const memory = { ...nothing, clusterId: 'c1' };
    expect(memoryFromVolumes(memory, [volume('db-0', 'c1')])).toEqual({ ...memory, voters: three });
    expect(memoryFromVolumes(memory, [volume('db-0', 'c2')])).toEqual(memory);
  });
});

describe('a PVC with a possible member name', () => {
  const memory = { clusterId: 'c1', voters: three };

  it('belongs to another cluster if its record names another, or if it has no record and others created it', () => {
    expect(belongsToAnother(volume('db-3', 'c2'), memory)).toBe(true);
    expect(belongsToAnother(volume('db-3'), memory)).toBe(true);
    expect(belongsToAnother({ ...volume('db-3', 'c2'), isOurs: true }, memory)).toBe(true);
  });

  it('belongs to this cluster by its record, by its creator, or by the name of a voter', () => {
    expect(belongsToAnother(volume('db-3', 'c1'), memory)).toBe(false);
    expect(belongsToAnother({ ...volume('db-3'), isOurs: true }, memory)).toBe(false);
    expect(belongsToAnother(volume('db-2', 'c2'), memory)).toBe(false);
  });

  it('belongs to no other cluster before this cluster has formed', () => {
    expect(belongsToAnother(volume('db-3', 'c2'), nothing)).toBe(false);
  });
});
