import { expect, it } from 'vitest';
import { aWorld, nameOf, peerURLOf } from '../../../test/support/worlds.ts';
import type { Deed } from './deed.ts';
import { perform } from './perform.ts';

const name = nameOf('db-9');

/** What is asked to be deleted, and under which conditions, while etcd lists these peer URLs. */
async function removed(kind: 'discard-carrier' | 'stop-carrier', ...listed: readonly string[]) {
  const world = aWorld((w) => ({ ...w, intent: { ...w.intent, keepVolumesSeconds: 0 } }));
  const asked: object[] = [];
  const claim = { metadata: { name, namespace: 'default', uid: 'claim', ownerReferences: [{ uid: 'uid-1' }] } };
  const memberList = async () => listed.map((url) => ({ name: '', peerURLs: [url] }));
  const deed = {
    blueprint: { intent: world.intent, naming: {} },
    observed: { world, podWith: () => undefined, connectionTo: () => ({ memberList }) },
    tools: { caches: { claims: { get: () => claim } } },
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
