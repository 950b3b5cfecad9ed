import { describe, expect, it } from 'vitest';
import { aWorld, durable, nameOf, withMemberPod } from '../../../../test/support/worlds.ts';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import type { ClusterWorld } from '../../../core/cluster/model/cluster.ts';
import type { Step } from '../../../core/cluster/plan/step.ts';
import { Failure, type FailureKind } from '../../../std/failure.ts';
import { perform } from './perform.ts';
import type { StepContext } from './step-context.ts';

const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const read = coreos.read({
  metadata: { name: 'db', namespace: 'default', uid: 'u' },
  spec: { size: 3, version: '3.6.16', pod: { persistentVolumeClaimSpec: claim } },
});
if (!read.ok) throw new Error(JSON.stringify(read.problems));
const { blueprint } = read.value;
const count = 'etcd.database.coreos.com/snapshot-count';
const name = nameOf('db-1');

interface Around {
  readonly world?: ClusterWorld;
  /** The failure of the downgrade validation. */
  readonly refuses?: FailureKind;
  /** The annotations of the PVC, and of every pod. */
  readonly onClaim?: Readonly<Record<string, string>>;
  readonly onPods?: Readonly<Record<string, string>>;
  /** The status of the pod on the API server. */
  readonly live?: object;
}

/** Performs a step. Returns the writes in order. */
async function written(step: Step, { world = aWorld(durable()), refuses, onClaim, onPods, live = {} }: Around = {}) {
  const writes: { annotations?: Readonly<Record<string, string>> }[] = [];
  const patch = async (_: unknown, __: unknown, { body }: { body: { metadata?: object } }) =>
    void writes.push(body.metadata ?? {});
  const create = async (_: unknown, { metadata }: { metadata: object }) => void writes.push(metadata);
  const downgrade = async (): Promise<void> => {
    if (refuses !== undefined) throw new Failure(refuses, 'etcd says no');
  };
  const pod = { metadata: { name, annotations: onPods ?? {} }, spec: { containers: [{ name: 'etcd' }] } };
  const context = {
    blueprint,
    observed: {
      ...{ world, connectionTo: () => ({ downgrade }), podWith: () => pod },
      ...{ tlsModes: { peer: 'plain', client: 'plain' }, blueprintFor: () => blueprint },
    },
    controller: {
      now: () => new Date(0),
      client: { get: async () => ({ metadata: { name, uid: 'u' }, status: live }) },
      caches: { claims: { get: () => ({ metadata: { uid: 'c', annotations: onClaim ?? {} } }) } },
    },
    writer: { patch, create },
    signal: new AbortController().signal,
  };
  await perform(step, context as unknown as StepContext);
  return writes;
}

const onwards: Step = { kind: 'change-image', name, uid: 'u', from: '3.5.35', to: '3.6.16' };

describe('the upgrade of a member to the next minor version', () => {
  it.each(['rejected', 'unreachable', 'conflict'] as const)(
    'waits while the cluster version is lower (%s)',
    async (refuses) => {
      const message = 'the cluster version is not yet 3.5: etcd says no';
      await expect(written(onwards, { refuses })).rejects.toMatchObject({ kind: 'conflict', message });
    },
  );

  it('fails if the operator lacks a right', async () => {
    await expect(written(onwards, { refuses: 'forbidden' })).rejects.toMatchObject({ kind: 'forbidden' });
  });
});

describe('a bootstrap member before the status records the formed cluster', () => {
  const unformed: ClusterWorld = { ...aWorld(durable()), memory: { ...aWorld().memory, clusterId: undefined } };
  const started = { containerStatuses: [{ name: 'etcd', restartCount: 1 }] };

  it('does not get another minor if its pod has run by now', async () => {
    const message = 'pod db-1 has run etcd 3.5.35 by now';
    await expect(written(onwards, { world: unformed, live: started })).rejects.toMatchObject({ message });
    await expect(written(onwards, { world: unformed })).resolves.toHaveLength(2);
  });

  it('marks its PVC before it starts on data of an earlier pod', async () => {
    const join = { as: 'bootstrap', of: { members: [name], token: 't' } } as const;
    const start: Step = { kind: 'start-member-pod', name, join, version: '3.5.35' };
    const reused = { 'etcd.database.coreos.com/reused': 'true' };
    const world = withMemberPod(name, { phase: 'gone', mayHaveData: true })(unformed);
    expect(await written(start, { world })).toContainEqual(expect.objectContaining({ annotations: reused }));
    expect(await written(start, { world: unformed })).not.toContainEqual(
      expect.objectContaining({ annotations: reused }),
    );
  });
});

describe('the snapshot count of a member', () => {
  const again = (version: string): Step => ({ kind: 'start-member-pod', name, join: { as: 'restarting' }, version });

  it('is set on its new pod and its PVC at the upgrade to 3.5', async () => {
    const world = aWorld(durable(), withMemberPod(name, { version: '3.4.31', phase: 'gone' }));
    const [onVolume, onPod] = await written(again('3.5.35'), { world });
    expect([onVolume?.annotations?.[count], onPod?.annotations?.[count]]).toEqual(['1', '1']);
  });

  it('is kept when its pod is recreated', async () => {
    const [, onPod] = await written(again('3.5.35'), { onClaim: { [count]: '100' } });
    expect(onPod?.annotations?.[count]).toBe('100');
  });

  it('is that of the other members without an annotation on its PVC', async () => {
    const among = [{ name, peerURL: 'http://db-1:2380' }];
    const join = { as: 'joining', among } as const;
    const writes = await written(
      { kind: 'start-member-pod', name, join, version: '3.5.35' },
      { onPods: { [count]: '1' } },
    );
    expect(writes.at(-1)?.annotations?.[count]).toBe('1');
  });

  it('is removed at the upgrade from 3.6', async () => {
    const [onVolume, onPod] = await written(again('3.7.3'), { onClaim: { [count]: '1' } });
    expect([onVolume?.annotations?.[count], onPod?.annotations?.[count]]).toEqual(['', undefined]);
  });
});
