import { describe, expect, it } from 'vitest';
import { aWorld, nameOf } from '../../../../test/support/worlds.ts';
import { improbable } from '../../../apis/improbable-v1alpha1/dialect.ts';
import type { Resource } from '../../../kube/resource.ts';
import { Failure } from '../../../std/failure.ts';
import { perform } from '../act/perform.ts';
import type { StepContext } from '../act/step-context.ts';

const prefix = 'etcd.improbable.io';
const member = nameOf('db-1');
const labels = { [`${prefix}/removed-member`]: 'db-1' };
const annotations = { [`${prefix}/removed-from`]: 'u', [`${prefix}/removed-at`]: '2026-01-01T00:00:00Z' };
const kept = { name: 'db-1', namespace: 'n', uid: 'claim', resourceVersion: '7', labels, annotations };
const inUse = {
  name: 'db-1',
  namespace: 'n',
  uid: 'claim',
  resourceVersion: '7',
  annotations: { [`${prefix}/pvc-template-hash`]: 'x' },
};

interface Given {
  readonly cached?: object;
  readonly there?: object | undefined;
  readonly pods?: readonly object[];
  readonly phase?: string;
}

/** Returns the writes of a step on the volume of db-1. */
async function writtenBy(kind: 'delete-volume' | 'delete-member-pod', given: Given = {}) {
  const read = improbable.read({ metadata: { name: 'db', namespace: 'n', uid: 'u' }, spec: { replicas: 3 } });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const { cached = kept, pods = [], phase = 'Bound' } = given;
  const there = 'there' in given ? given.there : cached;
  const written: unknown[] = [];
  const get = async () => {
    if (there === undefined) throw new Failure('not-found', 'no claim');
    return { metadata: there };
  };
  const context = {
    blueprint: read.value.blueprint,
    observed: { world: aWorld(), podWith: () => undefined, connectionTo: () => ({ memberList: async () => [] }) },
    controller: {
      caches: {
        claims: {
          get: (key: string) => (key === 'n/db-1' ? { metadata: cached, status: { phase } } : undefined),
          by: (index: string) => (index === 'owner' ? [{ metadata: cached }] : []),
        },
        clusters: { get: () => undefined },
      },
      ...{ client: { get }, list: async () => ({ items: pods }), now: () => new Date('2026-01-01T00:00:00.5Z') },
    },
    writer: {
      remove: async ({ kind: of }: Resource<never>, _: unknown, { preconditions }: { preconditions: object }) =>
        void written.push({ removed: of, ...preconditions }),
      patch: async (_: unknown, at: { readonly name: string }, { body }: { readonly body: object }) =>
        void written.push({ patched: at.name, ...body }),
    },
  };
  const step =
    kind === 'delete-volume' ? { kind, claim: 'db-1', uid: 'claim', member } : { kind, name: member, uid: 'pod' };
  await perform(step, context as unknown as StepContext);
  return written;
}

describe('the volume of a removed member', () => {
  it('is marked with its UID and resourceVersion as preconditions, and loses its member label', async () => {
    expect((await writtenBy('delete-member-pod', { cached: inUse })).slice(1)).toEqual([
      {
        patched: 'db-1',
        metadata: {
          ...{ uid: 'claim', resourceVersion: '7', ownerReferences: [] },
          labels: { [`${prefix}/peer-name`]: null, ...labels },
          annotations,
        },
      },
    ]);
  });

  it.each(['Pending', 'Lost'])('is deleted at once if it is %s and holds no data', async (phase) => {
    const written = await writtenBy('delete-member-pod', { cached: inUse, phase });
    expect(written.slice(1)).toEqual([{ removed: 'PersistentVolumeClaim', uid: 'claim' }]);
  });

  it('is deleted later with its UID and resourceVersion as preconditions, unless a pod mounts it', async () => {
    const finished = { metadata: { name: 'p' }, spec: { volumes: [{ persistentVolumeClaim: { claimName: 'db-1' } }] } };
    const removed = [{ removed: 'PersistentVolumeClaim', uid: 'claim', resourceVersion: '7' }];
    expect(await writtenBy('delete-volume')).toEqual(removed);
    expect(await writtenBy('delete-volume', { pods: [{ ...finished, status: { phase: 'Succeeded' } }] })).toEqual(
      removed,
    );
    await expect(writtenBy('delete-volume', { pods: [finished] })).rejects.toMatchObject({ kind: 'conflict' });
  });

  it.each<[string, object | undefined]>([
    ['is another object', { ...kept, uid: 'another' }],
    ['has changed since the observation', { ...kept, resourceVersion: '8' }],
    ['is no longer marked', { ...kept, labels: {}, annotations: {} }],
    ['was marked for another cluster', { ...kept, annotations: { ...annotations, [`${prefix}/removed-from`]: 'v' } }],
    ['has an owner', { ...kept, ownerReferences: [{ uid: 'v' }] }],
  ])('is not deleted if it %s', async (_, there) => {
    await expect(writtenBy('delete-volume', { there })).rejects.toMatchObject({ kind: 'conflict' });
  });

  it('causes no failure if it is gone already', async () => {
    expect(await writtenBy('delete-volume', { there: undefined })).toEqual([]);
  });
});
