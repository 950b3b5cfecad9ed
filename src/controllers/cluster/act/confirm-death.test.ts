import { describe, expect, it } from 'vitest';
import { aWorld, durable, nameOf, withMemberPod, withoutMemberPod } from '../../../../test/support/worlds.ts';
import type { ClusterWorld } from '../../../core/cluster/model/cluster.ts';
import type { MemberId } from '../../../core/cluster/model/names.ts';
import { Failure } from '../../../std/failure.ts';
import { perform } from './perform.ts';
import type { StepContext } from './step-context.ts';

const victim = 'db-2';
const listOf = (...ids: readonly bigint[]) => ids.map((id) => ({ id, isLearner: false }));
const withoutPod = aWorld(withoutMemberPod(victim));
const withoutVolume = aWorld(withMemberPod(victim, { volume: 'lost' }));

/**
 * Removes the member while the caches show `world` and the API server has `there`. Returns the members removed from
 * etcd.
 */
async function removing(
  world: ClusterWorld,
  there: Readonly<Record<string, object>>,
  list = listOf(1n, 2n, 3n),
): Promise<readonly bigint[]> {
  const removed: bigint[] = [];
  const get = async ({ plural }: { plural: string }): Promise<object> => {
    const found = there[plural];
    if (found === undefined) throw new Failure('not-found', `${plural} do not exist`);
    return found;
  };
  const context = {
    blueprint: { intent: world.intent, naming: { clusterLabels: {}, memberLabel: 'member' } },
    observed: {
      ...{ world, podWith: () => undefined },
      connectionTo: () => ({ memberList: async () => list, memberRemove: async (id: bigint) => void removed.push(id) }),
    },
    controller: { client: { get } },
    signal: new AbortController().signal,
  };
  const step = { kind: 'remove-member', id: 2n as MemberId, name: nameOf(victim), because: 'dead' } as const;
  await perform(step, context as unknown as StepContext);
  return removed;
}

const bound = { metadata: {}, status: { phase: 'Bound' } };
const ofOurs = { metadata: { name: victim, labels: { member: victim }, ownerReferences: [{ uid: 'uid-1' }] } };

describe('a dead member', () => {
  it('is removed if the API server has neither its pod nor its PVC', async () => {
    expect(await removing(withoutPod, {})).toEqual([2n]);
    expect(await removing(withoutVolume, {})).toEqual([2n]);
  });

  it.each([
    { because: 'a pod that no cache shows', world: withoutPod, there: { pods: ofOurs } },
    { because: 'a PVC that no cache shows', world: withoutPod, there: { persistentvolumeclaims: bound } },
    {
      because: 'a PVC whose volume was observed as lost',
      world: withoutVolume,
      there: { persistentvolumeclaims: bound },
    },
  ])('is not removed because of $because', async ({ world, there }) => {
    const says = expect.stringMatching(/^the (pod|PVC) of db-2 exists$/);
    await expect(removing(world, there)).rejects.toMatchObject({ kind: 'conflict', message: says });
  });

  const down = aWorld(durable(), withMemberPod(victim, { ready: false }));
  const podWith = (uid: string, status: 'True' | 'False'): object => ({
    pods: { metadata: { name: victim, uid }, status: { conditions: [{ type: 'Ready', status }] } },
  });

  it('that was down for long is removed if its pod is the same and still unready', async () => {
    expect(await removing(down, podWith('uid-of-db-2', 'False') as never)).toEqual([2n]);
  });

  it.each<[string, object, RegExp]>([
    ['its pod is ready now', podWith('uid-of-db-2', 'True'), /is ready now/],
    ['its pod is another pod now', podWith('another', 'False'), /is another pod now/],
    ['its pod is gone and its volume exists', {}, /is gone, and its volume exists/],
  ])('that was down for long is not removed if %s', async (_, there, says) => {
    await expect(removing(down, there as never)).rejects.toMatchObject({ kind: 'conflict', message: says });
  });

  it.each([
    ['shorter', listOf(2n, 3n)],
    ['changed in a role', [...listOf(1n, 2n), { id: 3n, isLearner: true }]],
  ])('is not removed if the member list is %s since the plan', async (_, list) => {
    await expect(removing(down, podWith('uid-of-db-2', 'False') as never, list)).rejects.toThrow('has changed');
  });

  it('is not removed if its missing pod exists now', async () => {
    const gone = aWorld(durable(), withMemberPod(victim, { ready: false, phase: 'gone', uid: 'uid-of-claim' }));
    const there = podWith('uid-of-db-2', 'False') as never;
    await expect(removing(gone, there)).rejects.toThrow('is another pod now');
  });

  it.each([
    ['is being deleted', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }],
    ['has lost its volume', { metadata: {}, status: { phase: 'Lost' } }],
  ])('is removed if its PVC %s', async (_, persistentvolumeclaims) => {
    expect(await removing(withoutPod, { persistentvolumeclaims })).toEqual([2n]);
  });
});
