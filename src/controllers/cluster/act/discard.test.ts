import { expect, it } from 'vitest';
import { aMemberPod, aWorld, nameOf, peerURLOf } from '../../../../test/support/worlds.ts';
import type { MemberPod } from '../../../core/cluster/model/cluster.ts';
import { perform } from './perform.ts';
import type { StepContext } from './step-context.ts';

const name = nameOf('db-9');

interface Mounted {
  /** The name of the PVC that the pod mounts, and the UID of its owner. */
  readonly claim?: string;
  readonly owner?: string;
  /** Other pods that mount it. */
  readonly besides?: readonly MemberPod[];
  /** The member list of etcd. */
  readonly members?: readonly object[];
}

/** Returns the deletions and their preconditions while etcd lists these peer URLs. */
const removed = (kind: 'delete-member-pod' | 'stop-member-pod', ...listed: readonly string[]) =>
  removedOf(kind, { members: listed.map((url) => ({ name: '', peerURLs: [url] })) });

async function removedOf(kind: 'delete-member-pod' | 'stop-member-pod', mounted: Mounted) {
  const { claim: claimed = name, owner = 'uid-1', besides = [], members = [] } = mounted;
  const world = aWorld((w) => ({
    ...w,
    intent: { ...w.intent, keepVolumesSeconds: 0 },
    memberPods: [...w.memberPods, { ...aMemberPod(name), claim: claimed }, ...besides],
  }));
  const asked: object[] = [];
  const claim = {
    metadata: { name: claimed, namespace: 'default', uid: 'claim', ownerReferences: [{ uid: owner }] },
  };
  const memberList = async () => members;
  const by = (index: string, _: string, uid: string) => (index === 'owner' && uid === owner ? [claim] : []);
  const context = {
    blueprint: { intent: world.intent, naming: {} },
    observed: { world, podWith: () => undefined, connectionTo: () => ({ memberList }) },
    controller: { caches: { claims: { get: () => claim, by } } },
    writer: {
      remove: async ({ plural }: { plural: string }, _: unknown, { preconditions }: { preconditions?: object }) =>
        void asked.push({ plural, ...preconditions }),
    },
  };
  await perform({ kind, name, uid: 'pod' }, context as unknown as StepContext).catch(() => undefined);
  return asked;
}

it('a pod is deleted with its UID as a precondition', async () =>
  expect(await removed('stop-member-pod')).toEqual([expect.objectContaining({ plural: 'pods', uid: 'pod' })]));

it('the PVC of an orphaned pod is deleted with its UID as a precondition if no PVCs are kept', async () =>
  expect(await removed('delete-member-pod')).toEqual([
    expect.objectContaining({ plural: 'pods', uid: 'pod' }),
    expect.objectContaining({ plural: 'persistentvolumeclaims', uid: 'claim' }),
  ]));

it('no PVC is deleted if etcd lists its member in a second request', async () =>
  expect(await removed('delete-member-pod', peerURLOf(name))).toEqual([]));

const alone = [expect.objectContaining({ plural: 'pods', uid: 'pod' })];

it.each([
  ['belongs to another member', { claim: 'db-0' }],
  ['belongs to another cluster', { owner: 'another' }],
  [
    'is mounted by a pod whose member etcd lists',
    {
      besides: [{ ...aMemberPod(nameOf('db-0')), claim: name }],
      members: [{ name: 'db-0', peerURLs: [peerURLOf(nameOf('db-0'))] }],
    },
  ],
])('an orphaned pod is deleted without its PVC if the PVC %s', async (_, mounted: Mounted) =>
  expect(await removedOf('delete-member-pod', mounted)).toEqual(alone),
);
