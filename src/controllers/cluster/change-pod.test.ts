import { describe, expect, it } from 'vitest';
import { aWorld, durable, nameOf, withCarrier } from '../../../test/support/worlds.ts';
import type { ClusterWorld } from '../../core/model/cluster.ts';
import type { Step } from '../../core/plan/cluster/step.ts';
import { coreos } from '../../dialects/coreos-v1beta2/dialect.ts';
import { Failure, type FailureKind } from '../../std/failure.ts';
import type { Deed } from './deed.ts';
import { perform } from './perform.ts';

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
  /** How etcd answers when it is asked whether all have arrived. */
  readonly refuses?: FailureKind;
  /** What stands on the claim, and on every pod. */
  readonly onClaim?: Readonly<Record<string, string>>;
  readonly onPods?: Readonly<Record<string, string>>;
}

/** Takes a step, and gives back what was written, in order. */
async function written(step: Step, { world = aWorld(durable()), refuses, onClaim, onPods }: Around = {}) {
  const writes: { annotations?: Readonly<Record<string, string>> }[] = [];
  const patch = async (_: unknown, __: unknown, { body }: { body: { metadata?: object } }) =>
    void writes.push(body.metadata ?? {});
  const create = async (_: unknown, { metadata }: { metadata: object }) => void writes.push(metadata);
  const downgrade = async (): Promise<void> => {
    if (refuses !== undefined) throw new Failure(refuses, 'etcd says no');
  };
  const pod = { metadata: { name, annotations: onPods ?? {} }, spec: { containers: [{ name: 'etcd' }] } };
  const deed = {
    blueprint,
    observed: {
      ...{ world, connectionTo: () => ({ downgrade }), podWith: () => pod },
      ...{ planes: { peer: 'plain', client: 'plain' }, blueprintFor: () => blueprint },
    },
    tools: {
      now: () => new Date(0),
      caches: { claims: { get: () => ({ metadata: { uid: 'c', annotations: onClaim ?? {} } }) } },
    },
    writer: { patch, create },
    signal: new AbortController().signal,
  };
  await perform(step, deed as unknown as Deed);
  return writes;
}

const onwards: Step = { kind: 'change-image', name, uid: 'u', from: '3.5.35', to: '3.6.16' };

describe('a member that is to leave a minor', () => {
  it.each(['rejected', 'unreachable', 'conflict'] as const)('waits when etcd says so (%s)', async (refuses) => {
    const message = 'the cluster has not arrived at etcd 3.5 yet: etcd says no';
    await expect(written(onwards, { refuses })).rejects.toMatchObject({ kind: 'conflict', message });
  });

  it('does not wait for what only a person can grant', async () => {
    await expect(written(onwards, { refuses: 'forbidden' })).rejects.toMatchObject({ kind: 'forbidden' });
  });
});

describe('how often a member makes snapshots', () => {
  const again = (version: string): Step => ({ kind: 'start-carrier', name, join: { as: 'returner' }, version });

  it('stands on its new pod and on its disk when it comes to 3.5 by a new pod', async () => {
    const world = aWorld(durable(), withCarrier(name, { version: '3.4.31', phase: 'gone' }));
    const [onDisk, onPod] = await written(again('3.5.35'), { world });
    expect([onDisk?.annotations?.[count], onPod?.annotations?.[count]]).toEqual(['1', '1']);
  });

  it('stays when its pod is made again there', async () => {
    const [, onPod] = await written(again('3.5.35'), { onClaim: { [count]: '100' } });
    expect(onPod?.annotations?.[count]).toBe('100');
  });

  it('is that of the others where it has no disk that could say so', async () => {
    const among = [{ name, peerURL: 'http://db-1:2380' }];
    const join = { as: 'newcomer', among } as const;
    const writes = await written(
      { kind: 'start-carrier', name, join, version: '3.5.35' },
      { onPods: { [count]: '1' } },
    );
    expect(writes.at(-1)?.annotations?.[count]).toBe('1');
  });

  it('is for etcd to choose again when it leaves 3.6', async () => {
    const [onDisk, onPod] = await written(again('3.7.3'), { onClaim: { [count]: '1' } });
    expect([onDisk?.annotations?.[count], onPod?.annotations?.[count]]).toEqual(['', undefined]);
  });
});
