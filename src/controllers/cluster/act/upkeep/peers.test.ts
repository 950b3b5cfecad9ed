import { expect, it } from 'vitest';
import { nameOf } from '../../../../../test/support/worlds.ts';
import type { PeerContext } from '../../ensure/peers.ts';
import { correctPeer, deletePeer } from './peers.ts';

it.each([
  ['the cluster is deleted, at the version that was observed', 'u', [{ uid: 'p', resourceVersion: '7' }]],
  ['another cluster stays', 'another', []],
])('with a removed member, an EtcdPeer of %s', async (_, owner, expected) => {
  const removed: unknown[] = [];
  const peer = { metadata: { name: 'db-2', uid: 'p', resourceVersion: '7', ownerReferences: [{ uid: owner }] } };
  const context = {
    cache: { store: { get: () => peer }, resource: { plural: 'etcdpeers' } },
    writer: {
      remove: async (...[, , { preconditions }]: [unknown, unknown, { preconditions: object }]) =>
        void removed.push(preconditions),
    },
    ...{ namespace: 'default', owner: 'u' },
  };
  await deletePeer(nameOf('db-2'), context as unknown as PeerContext);
  expect(removed).toEqual(expected);
});

it('the spec of an EtcdPeer is replaced only if it is the EtcdPeer that was observed', async () => {
  const bodies: unknown[] = [];
  const writer = { patch: async (...[, , { body }]: [unknown, unknown, { body: unknown }]) => void bodies.push(body) };
  const controller = { peers: { resource: { plural: 'etcdpeers' } } };
  const context = { cluster: { namespace: 'default', name: 'db' }, controller, writer };
  const peer = { metadata: { name: 'db-2', uid: 'p', resourceVersion: '7' } };
  const step = { kind: 'correct-peer', peer, spec: { a: 1 }, mayRecreate: true, why: 'it differs' };
  await correctPeer(step as never, context as never);
  expect(bodies).toEqual([
    [
      { op: 'test', path: '/metadata/uid', value: 'p' },
      { op: 'replace', path: '/spec', value: { a: 1 } },
    ],
  ]);
});
