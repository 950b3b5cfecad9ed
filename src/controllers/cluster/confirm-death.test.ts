import { describe, expect, it } from 'vitest';
import { aWorld, durable, nameOf, withCarrier, withoutCarrier } from '../../../test/support/worlds.ts';
import type { ClusterWorld } from '../../core/model/cluster.ts';
import type { MemberId } from '../../core/model/names.ts';
import { Failure } from '../../std/failure.ts';
import type { Deed } from './deed.ts';
import { perform } from './perform.ts';

const victim = 'db-2';
const listOf = (...ids: readonly bigint[]) => ids.map((id) => ({ id, isLearner: false }));
const withoutBody = aWorld(withoutCarrier(victim));
const withoutDisk = aWorld(withCarrier(victim, { disk: 'lost' }));

/** Removes the member while the caches show `world` and the API server has `there`; returns the members that were removed from etcd. */
async function removing(
  world: ClusterWorld,
  there: Readonly<Record<string, object>>,
  list = listOf(1n, 2n, 3n),
): Promise<readonly bigint[]> {
  const removed: bigint[] = [];
  const get = async ({ plural }: { plural: string }): Promise<object> => {
    const found = there[plural];
    if (found === undefined) throw new Failure('not-found', `${plural} are not there`);
    return found;
  };
  const deed = {
    blueprint: { intent: world.intent, naming: { clusterLabels: {}, memberLabel: 'member' } },
    observed: {
      ...{ world, podWith: () => undefined },
      connectionTo: () => ({ memberList: async () => list, memberRemove: async (id: bigint) => void removed.push(id) }),
    },
    tools: { client: { get } },
    signal: new AbortController().signal,
  };
  const step = { kind: 'remove-member', id: 2n as MemberId, name: nameOf(victim), because: 'dead' } as const;
  await perform(step, deed as unknown as Deed);
  return removed;
}

const bound = { metadata: {}, status: { phase: 'Bound' } };
const ofOurs = { metadata: { name: victim, labels: { member: victim }, ownerReferences: [{ uid: 'uid-1' }] } };

describe('before a member is given up, the API server is asked itself', () => {
  it('and it goes when neither pod nor disk are there', async () => {
    expect(await removing(withoutBody, {})).toEqual([2n]);
    expect(await removing(withoutDisk, {})).toEqual([2n]);
  });

  it.each([
    { because: 'a pod that no copy shows', world: withoutBody, there: { pods: ofOurs } },
    { because: 'a disk that no copy shows', world: withoutBody, there: { persistentvolumeclaims: bound } },
    { because: 'a disk that was thought lost', world: withoutDisk, there: { persistentvolumeclaims: bound } },
  ])('and it stays because of $because', async ({ world, there }) => {
    const says = expect.stringMatching(/^the (pod|disk) of db-2 is there after all$/);
    await expect(removing(world, there)).rejects.toMatchObject({ kind: 'conflict', message: says });
  });

  const down = aWorld(durable(), withCarrier(victim, { ready: false }));
  const podWith = (uid: string, status: 'True' | 'False'): object => ({
    pods: { metadata: { name: victim, uid }, status: { conditions: [{ type: 'Ready', status }] } },
  });

  it('and a member that was down for long goes if its pod is the same and still unready', async () => {
    expect(await removing(down, podWith('uid-of-db-2', 'False') as never)).toEqual([2n]);
  });

  it.each<[string, object, RegExp]>([
    ['its pod is ready by now', podWith('uid-of-db-2', 'True'), /is ready after all/],
    ['its pod is another by now', podWith('another', 'False'), /is another by now/],
    ['its pod is gone by now, and its volume is there', {}, /is gone, and its volume is there/],
  ])('and a member that was down for long stays if %s', async (_, there, says) => {
    await expect(removing(down, there as never)).rejects.toMatchObject({ kind: 'conflict', message: says });
  });

  it.each([
    ['another by now', listOf(2n, 3n)],
    ['one with another learner by now', [...listOf(1n, 2n), { id: 3n, isLearner: true }]],
  ])('and no member goes if the member list is %s', async (_, list) => {
    await expect(removing(down, podWith('uid-of-db-2', 'False') as never, list)).rejects.toThrow('has changed');
  });

  it('and a member stays whose pod was gone and is there by now', async () => {
    const gone = aWorld(durable(), withCarrier(victim, { ready: false, phase: 'gone', uid: 'uid-of-claim' }));
    const there = podWith('uid-of-db-2', 'False') as never;
    await expect(removing(gone, there)).rejects.toThrow('is another by now');
  });

  it.each([
    ['is being deleted', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }],
    ['has lost its volume', { metadata: {}, status: { phase: 'Lost' } }],
  ])('and a disk that %s does not keep it', async (_, persistentvolumeclaims) => {
    expect(await removing(withoutBody, { persistentvolumeclaims })).toEqual([2n]);
  });
});
