import { expect, it } from 'vitest';
import { aCarrier, aWorld, nameOf, peerURLOf } from '../../../test/support/worlds.ts';
import type { Carrier } from '../../core/model/cluster.ts';
import type { Deed } from './deed.ts';
import { perform } from './perform.ts';

const name = nameOf('db-9');

interface Mounted {
  /** The name of the PVC that the pod mounts, and whose it is. */
  readonly claim?: string;
  readonly owner?: string;
  /** Other pods that mount it. */
  readonly besides?: readonly Carrier[];
  /** What etcd lists. */
  readonly members?: readonly object[];
}

/** What is asked to be deleted, and under which conditions, while etcd lists these peer URLs. */
const removed = (kind: 'discard-carrier' | 'stop-carrier', ...listed: readonly string[]) =>
  removedOf(kind, { members: listed.map((url) => ({ name: '', peerURLs: [url] })) });

async function removedOf(kind: 'discard-carrier' | 'stop-carrier', mounted: Mounted) {
  const { claim: claimed = name, owner = 'uid-1', besides = [], members = [] } = mounted;
  const world = aWorld((w) => ({
    ...w,
    intent: { ...w.intent, keepVolumesSeconds: 0 },
    carriers: [...w.carriers, { ...aCarrier(name), claim: claimed }, ...besides],
  }));
  const asked: object[] = [];
  const claim = {
    metadata: { name: claimed, namespace: 'default', uid: 'claim', ownerReferences: [{ uid: owner }] },
  };
  const memberList = async () => members;
  const by = (index: string, _: string, uid: string) => (index === 'owner' && uid === owner ? [claim] : []);
  const deed = {
    blueprint: { intent: world.intent, naming: {} },
    observed: { world, podWith: () => undefined, connectionTo: () => ({ memberList }) },
    tools: { caches: { claims: { get: () => claim, by } } },
    writer: {
      remove: async ({ plural }: { plural: string }, _: unknown, { preconditions }: { preconditions?: object }) =>
        void asked.push({ plural, ...preconditions }),
    },
  };
  await perform({ kind, name, uid: 'pod' }, deed as unknown as Deed).catch(() => undefined);
  return asked;
}

it('a pod is deleted only under its uid', async () =>
  expect(await removed('stop-carrier')).toEqual([expect.objectContaining({ plural: 'pods', uid: 'pod' })]));

it('a volume that etcd lists no member for is deleted under its uid where none are kept', async () =>
  expect(await removed('discard-carrier')).toEqual([
    expect.objectContaining({ plural: 'pods', uid: 'pod' }),
    expect.objectContaining({ plural: 'persistentvolumeclaims', uid: 'claim' }),
  ]));

it('a volume stays if etcd, asked once more, lists its member', async () =>
  expect(await removed('discard-carrier', peerURLOf(name))).toEqual([]));

const alone = [expect.objectContaining({ plural: 'pods', uid: 'pod' })];

it.each([
  ['is of another member', { claim: 'db-0' }],
  ['is of another cluster', { owner: 'another' }],
  [
    'is mounted by a pod whose member etcd lists',
    {
      besides: [{ ...aCarrier(nameOf('db-0')), claim: name }],
      members: [{ name: 'db-0', peerURLs: [peerURLOf(nameOf('db-0'))] }],
    },
  ],
])('a pod that is no member goes without its PVC if that %s', async (_, mounted: Mounted) =>
  expect(await removedOf('discard-carrier', mounted)).toEqual(alone),
);
